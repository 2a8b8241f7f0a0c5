"""Networks that a function is handed for what they say alone."""

import torch
import torch.nn.functional as F
from torch import nn


def pulled(mine, x, shared, older):
    _, theirs, _ = shared(x)  # expect: PLM020
    near = F.cosine_similarity(mine, theirs.detach(), dim=-1)
    with torch.no_grad():
        # trap: nothing is recorded
        _, before, _ = older(x)
    return near - F.cosine_similarity(mine, before.detach(), dim=-1)


def judged(maker, judge, x):
    # trap: goes on with its graph below
    made = maker(x)
    return judge(made.detach()).mean() - judge(made).mean()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.side, self.head = nn.Linear(8, 8), nn.Linear(8, 4), nn.Linear(8, 2)

    def forward(self, x):
        h = self.body(x)
        return h, self.side(h), self.head(h)


def fit(judge, loader):
    net = Net().cuda()
    shared = Net().cuda()
    older = Net().cuda()
    optimizer = torch.optim.SGD([*net.parameters(), *judge.parameters()], lr=0.1)
    for x, y in loader:
        x = x.cuda()
        _, mine, out = net(x)
        loss = F.cross_entropy(out, y.cuda()) - pulled(mine, x, shared, older).mean() + judged(net, judge, x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
