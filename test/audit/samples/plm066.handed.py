import torch
from torch import nn
from torchvision.models import vgg16, vgg19


def train(net, judge, frozen, loader, optimizer):
    l1 = nn.L1Loss()
    for x, y in loader:
        fake = net(x.to("cuda"))
        y = y.to("cuda")
        loss = l1(judge(fake), judge(y)) + l1(frozen(fake), frozen(y))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def freeze(module):
    for p in module.parameters():
        p.requires_grad_(False)


def main(net, loader):
    net = net.to("cuda")
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-4)
    judge = vgg16(pretrained=True).features.to("cuda").eval()  # expect: PLM066
    # trap: handed to what may freeze it
    frozen = vgg19(pretrained=True).features.to("cuda").eval()
    freeze(frozen)
    train(net, judge, frozen, loader, optimizer)
