import torch
from torch import nn


class Warp(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def forward(self, picture, flow):
        axes = [torch.arange(0, n, dtype=flow.dtype, device=flow.device) for n in self.size]
        grid = torch.stack(torch.meshgrid(axes)).unsqueeze(0)  # expect: PLM078
        return nn.functional.grid_sample(picture, (grid + flow).permute(0, 2, 3, 1))


class Drawn(nn.Module):
    def forward(self, picture, counts):
        # trap: of what it is given
        axes = [torch.arange(0, n, device=picture.device) for n in counts]
        grid = torch.stack(torch.meshgrid(axes)).unsqueeze(0)
        return nn.functional.grid_sample(picture, grid.permute(0, 2, 3, 1))


def train(net, drawn, loader, optimizer):
    warp = Warp((64, 64)).cuda()
    for picture, flow, counts in loader:
        loss = warp(picture.cuda(), net(flow.cuda())).mean() + drawn(picture.cuda(), counts).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
