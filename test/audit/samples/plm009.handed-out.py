import torch
import torch.nn.functional as F

model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.Upsample(scale_factor=2)).cuda()
optimizer = torch.optim.Adam(model.parameters(), fused=True)


def learn(left, right, true_depth):
    optimizer.zero_grad()
    stacked, entropy = model(left.cuda(), right.cuda())
    loss = F.smooth_l1_loss(stacked[0], true_depth.cuda())
    loss.backward()
    optimizer.step()
    return loss.detach(), {"entropy": entropy.mean()}, stacked


def learn_alone(left, right, true_depth):
    optimizer.zero_grad()
    stacked, entropy = model(left.cuda(), right.cuda())
    loss = F.smooth_l1_loss(stacked[0], true_depth.cuda())
    loss.backward()
    optimizer.step()
    return loss.detach(), {"entropy": entropy.mean()}, stacked[0].mean()


def main(loader, log):
    for step, (left, right, true_depth) in enumerate(loader):
        loss, shown, pyramid = learn(left, right, true_depth)  # likely: PLM009
        if step % 100 == 0:
            log.image("depth_pred", pyramid[0][:1].cpu())
    for step, (left, right, true_depth) in enumerate(loader):
        # trap: a number
        loss, shown, mean = learn_alone(left, right, true_depth)
        if step % 100 == 0:
            log.scalar("mean", mean)
