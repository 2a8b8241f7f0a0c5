import torch
import torch.nn.functional as F


def cropped(images, size):
    top = torch.randint(images.size(2) - size, size=(1,), device=images.device)[0]
    return images[:, :, top : top + size]  # expect: PLM068


def started(images, size):
    top = torch.randint(images.size(2) - size, size=(1,), device=images.device)[0]
    # trap: once, before the first epoch
    return images[:, :, top : top + size]


def fit(net, images, wanted, optimizer, epochs, size=32, many=512):
    net = net.cuda()
    images, wanted = started(images.cuda(), 48), wanted.cuda()
    for epoch in range(epochs):
        ready = torch.cat([cropped(images[i : i + many], size) for i in range(0, len(images), many)])
        for i in range(0, len(ready), many):
            loss = F.cross_entropy(net(ready[i : i + many]), wanted[i : i + many])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
