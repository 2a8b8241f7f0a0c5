import torch
from torch import nn

class Meter:
    def __init__(self):
        self.total = 0.0
        self.count = 0

    def update(self, value, n):
        self.total = self.total + value * n  # leak
        self.count += n


net = nn.Sequential(nn.Linear(24, 48), nn.Tanh(), nn.Linear(48, 6))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
meter = Meter()
for i in range(150):
    x = torch.randn(3 + i % 9, 24)
    opt.zero_grad()
    loss = net(x).square().mean()
    loss.backward()
    opt.step()
    meter.update(loss, len(x))
