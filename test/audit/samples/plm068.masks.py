import torch
from torch import nn


class Focus(nn.Module):
    def __init__(self, width, flags):
        super().__init__()
        self.head = nn.Linear(width, width)
        self.flags = flags

    def forward(self, x, present_mask=None, kept=None, flags=()):
        x = self.head(x)
        if present_mask is not None and any(present_mask):  # expect: PLM068
            x = torch.where(present_mask[:, None], x, x.mean(1, keepdim=True))
        if kept is not None and all(kept):  # expect: PLM068
            x = x.masked_fill(kept.unsqueeze(1), 0.0)
        # trap: settings, of which nobody makes a tensor
        if any(flags) or any(self.flags):
            x = x * 2
        # trap: asked of each of several
        if all(one is not None for one in (present_mask, kept)):
            x = x + 1
        return x


def train(loader):
    net = Focus(8, [True]).cuda()
    optimizer = torch.optim.AdamW(net.parameters())
    for x in loader:
        optimizer.zero_grad()
        net(x.cuda()).mean().backward()
        optimizer.step()


def told(present_mask):
    # trap: no network is given it
    return any(present_mask)
