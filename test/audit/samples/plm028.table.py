import torch
import torch.nn.functional as F
from torch import nn


class Judge(nn.Module):
    def by_class(self, out: torch.Tensor, labels: torch.Tensor):
        return F.cross_entropy(out, labels) / len(torch.unique(labels))  # expect: PLM028

    def by_size(self, out: torch.Tensor, labels: torch.Tensor):
        # trap: put into a table that nobody calls
        return out.mean() / len(torch.unique(labels))

    def one(self, kind, out, labels):
        ways = {"class": self.by_class}
        return ways[kind](out, labels)

    def named(self):
        ways = {"size": self.by_size}
        return list(ways)

    def forward(self, out, labels):
        return self.one("class", out, labels)


def fit(net, batches, optimizer):
    judge = Judge().cuda()
    for x, y in batches:
        loss = judge(net(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
