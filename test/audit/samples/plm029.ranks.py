import torch.nn.functional as F


def train(net, loader, optimizer, rank, opt):
    net.cuda()
    history = []
    for step, (images, labels) in enumerate(loader):
        scores = net(images.cuda())
        loss = F.cross_entropy(scores, labels.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if rank in [-1, 0]:
            history.append((loss.item(), scores.max().item(), scores.min().item()))  # expect: PLM029
        if rank in [-1, 0] and step % 100 == 0:
            # trap: now and then
            history.append((loss.item(), scores.max().item(), scores.min().item()))
