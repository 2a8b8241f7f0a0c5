import torch
import torch.nn.functional as F


def learn(net, tnet, loader, optimizer):
    tnet.eval()
    net.train()
    for images, labels in loader:
        images, labels = images.cuda(), labels.cuda()
        out = net(images)
        wanted = tnet(images)  # expect: PLM020
        loss = F.cross_entropy(out, labels) + F.mse_loss(out, wanted.detach())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def unrecorded(net, model_t, loader, optimizer):
    model_t.eval()
    net.train()
    for images, labels in loader:
        images, labels = images.cuda(), labels.cuda()
        out = net(images)
        with torch.no_grad():
            # trap: nothing is recorded
            wanted = model_t(images)
        loss = F.cross_entropy(out, labels) + F.mse_loss(out, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def alone(tnet, loader):
    optimizer = torch.optim.Adam(tnet.parameters())
    tnet.train()
    for images, labels in loader:
        # trap: it is what learns
        loss = F.cross_entropy(tnet(images.cuda()), labels.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
