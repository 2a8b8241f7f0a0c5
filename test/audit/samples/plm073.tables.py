from functools import partial

import torch
from torch import nn
from torch.distributions import Categorical, Laplace, Normal

FAMILIES = {"normal": Normal, "laplace": Laplace}
MIXED = {"normal": Normal, "mean": torch.mean}


class Drawn(nn.Module):
    def __init__(self, width, family="normal"):
        super().__init__()
        self.head = nn.Linear(width, width)
        self.family = family
        self.policy = partial(Categorical, probs=None)
        self.trusted = partial(Categorical, validate_args=False)

    def forward(self, x):
        x = self.head(x)
        noise = FAMILIES[self.family](x, torch.ones_like(x)).rsample()  # expect: PLM073
        spread = self.policy(logits=x).entropy().mean()  # expect: PLM073
        # trap: nothing is validated
        trusted = self.trusted(logits=x).entropy().mean()
        # trap: a table of all sorts of things
        other = MIXED[self.family](x, 1)
        # trap: told not to
        still = FAMILIES["normal"](x, torch.ones_like(x), validate_args=False).rsample()
        return noise + spread + trusted + other + still


def train(loader):
    net = Drawn(8).cuda()
    optimizer = torch.optim.AdamW(net.parameters())
    for x in loader:
        optimizer.zero_grad()
        net(x.cuda()).mean().backward()
        optimizer.step()
