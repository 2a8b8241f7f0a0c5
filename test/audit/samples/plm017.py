import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen, self.norms, self.losses = [], [], []
        self.history = []
        self.kept = []
        self.recent = []
        self.body = nn.Linear(4, 4)

    def forward(self, x):
        y = torch.relu(x)
        self.history.append(y.norm())  # expect: PLM017
        # trap: cut off
        self.kept.append(y.detach())
        # trap: emptied elsewhere
        self.recent.append(y)
        return self.body(y)

    def clear(self):
        self.recent.clear()
        return len(self.history)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_probs = []

    def forward(self, x):
        # trap: read for a loss
        self.log_probs.append(torch.log(x))
        return x

    def loss(self):
        return torch.stack(self.log_probs).sum()


class Names(nn.Module):
    def __init__(self):
        super().__init__()
        self.shapes = []

    def forward(self, x):
        # trap: no tensor
        self.shapes.append(x.shape)
        return x
