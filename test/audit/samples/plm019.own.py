import torch
from torch import nn


class Restorer:
    def __init__(self, opt):
        self.net = nn.Conv2d(3, 3, 3).cuda()
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def feed_data(self, data):
        self.lq, self.gt = data["lq"].cuda(), data["gt"].cuda()

    def forward(self):
        self.output = self.net(self.lq)

    def optimize_parameters(self):
        self.forward()
        loss = (self.output - self.gt).abs().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def test(self):
        self.net.eval()
        self.forward()  # likely: PLM019
        self.net.train()

    def evaluate_one(self):
        # trap: nothing is recorded
        with torch.no_grad():
            self.forward()

    def validate(self, data):
        # trap: it is differentiated
        self.feed_data(data)
        self.forward()
        self.output.sum().backward()
        return self.lq.grad


class Shown:
    def __init__(self, net):
        self.net = net.cuda()

    def test(self):
        # trap: nothing says that this class ever learns
        self.out = self.net(torch.ones(1, 3, 8, 8).cuda())


def show(loader, opt):
    model = Restorer(opt)
    for data in loader:
        model.feed_data(data)
        model.optimize_parameters()
