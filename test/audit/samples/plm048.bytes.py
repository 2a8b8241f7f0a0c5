import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = nn.Sequential(nn.Conv2d(9, 32, 3, stride=2), nn.ReLU())
        self.head = nn.LazyLinear(50)

    def forward(self, frames):
        scaled = frames / 255.0
        centred = scaled - 0.5  # expect: PLM048
        return self.head(self.convs(centred).flatten(1))


class Pieces(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = nn.Sequential(nn.Conv2d(9, 32, 3, stride=2), nn.ReLU())
        self.head = nn.LazyLinear(50)

    def forward(self, frames):
        # trap: one expression, whose inner result goes with it
        return self.head(self.convs(frames / 255.0 - 0.5).flatten(1))

    def shown(self, frames):
        scaled = frames.float().div(255)
        # trap: read again
        centred = scaled * 2 - 1
        return self.head(self.convs(centred).flatten(1)), scaled

    def rebound(self, frames):
        frames = frames / 255.0
        # trap: the same name
        frames = frames - 0.5
        return self.head(self.convs(frames).flatten(1))


def train(loader, net, critic, optimizer):
    for frames, wanted in loader:
        frames, wanted = frames.cuda(), wanted.cuda()
        unit = frames.float().div(255.0)
        signed = 2 * unit  # expect: PLM048
        loss = nn.functional.mse_loss(net(signed), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def look(loader, net):
    for frames, _ in loader:
        unit = frames.cuda().float().div(255.0)
        # trap: nothing learns here
        signed = 2 * unit
        with torch.no_grad():
            net(signed)
