import torch
from torch import nn
from torch.nn import functional as F


class Centers(nn.Module):
    def __init__(self, classes, width):
        super().__init__()
        self.register_buffer("centers", torch.zeros(classes, width))
        self.register_buffer("kept", torch.zeros(classes, width))
        self.register_buffer("fresh", torch.zeros(classes, width))
        self.layer = nn.Linear(width, width)

    def forward(self, x, y):
        z = self.layer(x)
        self.fresh.zero_()
        for c in range(len(self.centers)):
            mine = (y == c).float()[:, None]
            self.centers[c] = 0.9 * self.centers[c] + 0.1 * (z * mine).sum(0)  # expect: PLM018
            self.kept[c] = 0.9 * self.kept[c] + 0.1 * (z * mine).sum(0).detach()  # trap: cut off
            self.fresh[c] = 0.9 * self.fresh[c] + 0.1 * (z * mine).sum(0)  # trap: emptied in every forward
        return z


class Learner:
    def __init__(self, net, classes, width):
        self.net = net.cuda()
        self.means = torch.zeros(classes, width, device="cuda")
        self.cut = torch.zeros(classes, width, device="cuda")
        self.optimizer = torch.optim.SGD(self.net.parameters(), 0.1)

    def step(self, x, y):
        z = self.net(x, y)
        for c in range(10):
            self.means[c] = 0.9 * self.means[c] + 0.1 * z[y == c].mean(0)  # likely: PLM018
            self.cut[c] = 0.9 * self.cut[c] + 0.1 * z[y == c].mean(0).detach()  # trap: cut off
        return F.cross_entropy(z, y)

    def fit(self, loader):
        for x, y in loader:
            loss = self.step(x.cuda(), y.cuda())
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
