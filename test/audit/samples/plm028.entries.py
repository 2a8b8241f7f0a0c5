import torch
from torch import nn


class Shades(nn.Module):
    def __init__(self, order):
        super().__init__()
        self.distance = nn.SmoothL1Loss(reduction="none")
        self.order = order

    def forward(self, made, wanted, padded, place, names):
        error = self.distance(made["first"], wanted)
        total = error[~padded].mean()  # expect: PLM028
        # trap: a number picks one row
        total = total + error[place].mean() + error[-place].mean()
        # trap: a row of the host's own table
        kept = names[~self.order]
        if "second" in made:
            seen = wanted.max(-1)[0] > 0
            total = total + self.distance(made["second"][seen], wanted).mean()  # expect: PLM028
        # of some names only, and nothing is read of what was asked for
        if "shadow" in names:
            seen = wanted.max(-1)[0] > 0
            total = total + self.distance(made["first"][seen], wanted).mean()  # likely: PLM028
        return total, kept


def fit(net, loader, names):
    net = net.cuda()
    shades = Shades(0)
    optimizer = torch.optim.AdamW(net.parameters())
    for x, wanted, padded in loader:
        optimizer.zero_grad()
        loss, _ = shades(net(x.cuda()), wanted.cuda(), padded.cuda(), 3, names)
        loss.backward()
        optimizer.step()
