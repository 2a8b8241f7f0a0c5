import torch
from torch import nn


class Stage(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return self.layer(x)


class Tuned(nn.Module):
    def __init__(self, name, learning):
        super().__init__()
        self.trunk = torch.hub.load("someone/trunks", name)
        self.learning = learning
        self.last_rows = None

    def forward(self, x):
        with torch.no_grad():
            for layer in self.trunk.layers[: -self.learning]:
                x = layer(x)
        x = x.detach()
        for layer in self.trunk.layers[-self.learning :]:
            x = layer(x)
        self.last_rows = x  # expect: PLM004
        return x


class Headed(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.stem = Stage(width)
        self.head = Stage(width)
        self.pool = nn.AdaptiveAvgPool1d(1)
        self.shown = None
        self.pooled = None

    def forward(self, x):
        with torch.no_grad():
            x = self.stem(x)
        # trap: of what has no weights nothing is recorded
        self.pooled = self.pool(x)
        rows = self.head(x)
        self.shown = rows  # expect: PLM004
        return rows


class Fixed(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.stem = Stage(width)
        self.after = Stage(width)
        for weight in self.after.parameters():
            weight.requires_grad = False
        self.stages = nn.ModuleList([Stage(width) for _ in range(2)])
        self.seen = None
        self.kept = None

    def forward(self, x):
        with torch.no_grad():
            x = self.stem(x)
        # trap: none of its weights learns
        x = self.after(x)
        self.seen = x
        with torch.no_grad():
            x = self.stem(x)
            for stage in self.stages:
                x = stage(x)
        # trap: run without recording to its end
        self.kept = x
        return x
