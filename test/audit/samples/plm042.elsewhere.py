import torch
from torch import nn


class Weighed(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.most = 80
        self.weights = torch.ones(classes)
        self.kept = torch.ones(classes)
        self.register_buffer("moving", torch.ones(classes))

    def forward(self, out, y):
        if self.weights.device != out.device:
            weights = self.weights.to(out.device)  # expect: PLM042
        else:
            weights = self.weights
        # trap: it moves with the module
        if self.moving.device != out.device:
            weights = weights + self.moving.to(out.device)
        # trap: another test
        if out.max() > self.most:
            weights = weights + self.kept.to(out.device)
        return (weights[y] * nn.functional.cross_entropy(out, y, reduction="none")).mean()


def fit(net, batches, optimizer):
    judge = Weighed(10).cuda()
    for x, y in batches:
        loss = judge(net(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
