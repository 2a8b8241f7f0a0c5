import torch
from torch import distributions as td


class Levels:
    def __init__(self, mean, std):
        self.mean = mean
        self.std = std
        # trap: once
        self.kept = td.Normal(torch.zeros(4).cuda(), torch.ones(4).cuda())

    def __call__(self, n, device):
        mean = torch.full((n,), self.mean, device=device)
        return td.Normal(mean, self.std).sample()  # likely: PLM073

    def plot(self, n, device):
        # trap: to look at
        return td.Normal(torch.full((n,), self.mean, device=device), self.std).sample()


def train(net, levels, loader, optimizer):
    net.cuda()
    # trap: above the loop
    start = td.Normal(torch.zeros(8).cuda(), 1.0).sample()
    for x in loader:
        loss = net(x.cuda() + levels(len(x), "cuda") + start).mean()
        loss.backward()
        optimizer.step()


class Funnel:
    def __init__(self, mean, scale):
        self.mean, self.scale = mean, scale

    def sample(self, n):
        return self._other_dist(n).sample()

    def _other_dist(self, n):
        # trap: for who asks for samples, which no step does
        return td.Normal(self.mean.expand(n, -1), self.scale)

    def predict_logits(self, x):
        # trap: to look at
        return td.Normal(self.mean + x, self.scale).rsample()
