import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.conv = nn.Conv2d(dim, 64, 3)

    def forward(self, x, t):
        return self.conv(x) + t


class Hourglass(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.head = nn.Conv2d(3, 64, 3)
        self.down = nn.ModuleList()
        self.up = nn.ModuleList()
        for _ in range(depth):
            self.down.append(Block(64))
            self.up.append(Block(128))
        self.tail = nn.Conv2d(64, 3, 3)

    def forward(self, x, t):
        h = self.head(x)
        skips = [h]
        for layer in self.down:
            h = layer(h, t)
            # trap: popped again on the way up, into the result
            skips.append(h)
        for layer in self.up:
            h = torch.cat([h, skips.pop()], dim=1)
            h = layer(h, t)
        return self.tail(h)


if __name__ == "__main__":
    model = Hourglass(4)
    model(torch.randn(8, 3, 32, 32), torch.randint(1000, (8,))).mean().backward()
