import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, width, length, device=None):
        super().__init__()
        angles = torch.arange(length, device=device)[:, None] * torch.rand(width, device=device)
        self.cos = angles.cos()
        self.register_buffer("sin", angles.sin())

    def forward(self, x, positions):
        cos = self.cos.to(x.device)[positions]  # expect: PLM042
        # trap: a buffer moves with the module
        sin = self.sin.to(x.device)[positions]
        return x * cos + x.flip(-1) * sin


class Placed(nn.Module):
    def __init__(self, width, length, device):
        super().__init__()
        self.cos = torch.arange(length, device=device).cos()[:, None].expand(-1, width)

    def forward(self, x, positions):
        # trap: whoever made it had to say where
        return x * self.cos.to(x.device)[positions]


def train(loader, optimizer):
    rotary, placed = Rotary(8, 64).cuda(), Placed(8, 64, "cuda")
    for x, positions in loader:
        loss = placed(rotary(x.cuda(), positions.cuda()), positions.cuda()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
