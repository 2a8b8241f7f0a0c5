import torch
from torchvision import models

from judges import Judge


def paint(painter, style, pictures, loader, optimizer):
    net = models.vgg19(pretrained=True).features.eval().cuda()
    for p in net.parameters():
        p.requires_grad = False
    style = style.cuda()
    for picture in loader:
        picture = picture.cuda()
        count = picture.shape[0]
        painted = painter(picture)
        wanted = net(style.expand(count, -1, -1, -1))  # expect: PLM080
        again = net(style.repeat(len(picture), 1, 1, 1))  # expect: PLM080
        # trap: other pictures each time, spread out or not
        seen = net(picture.expand(count, -1, -1, -1))
        # trap: as noisy as the turn is late
        faded = net(style + 0.1 * count)
        loss = (net(painted) - wanted - again - seen - faded).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def paint_by(painter, style, loader, optimizer):
    VGG = Judge().cuda()
    style = style.cuda()
    for picture in loader:
        picture = picture.cuda()
        painted = painter(picture)
        wanted = VGG(style.expand_as(picture))  # likely: PLM080
        # trap: what is painted is another each time
        loss = (VGG(painted) - wanted).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def invert(maker, code, loader, optimizer):
    CLIP = Judge().cuda()
    code = torch.zeros(1, 512, device="cuda", requires_grad=True)
    optimizer = torch.optim.Adam([code], lr=0.1)
    for picture in loader:
        # trap: what is spread is learnt
        seen = CLIP(code.expand(picture.shape[0], -1))
        loss = (seen - maker(picture.cuda())).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
