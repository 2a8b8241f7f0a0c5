import torch
from torch import nn
from torch.utils.data import DataLoader


class Restorer:
    def __init__(self, opt):
        self.device = torch.device("cuda")
        self.net = nn.Conv2d(3, 3, 3).to(self.device)
        self.optimizer = torch.optim.Adam(self.net.parameters(), fused=True)
        self.mean = torch.zeros(3)

    def feed_data(self, data):
        self.lq = data["lq"].to(self.device)  # expect: PLM037
        # trap: asked not to wait
        self.gt = data["gt"].to(self.device, non_blocking=True)
        # trap: what is computed on the host is not pinned
        self.scaled = (data["gt"] / 255).to(self.device)

    def set_mean(self, data):
        # trap: once, and no batch
        self.mean = data.to(self.device)

    def optimize_parameters(self):
        loss = (self.net(self.lq) - self.gt).abs().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def main(rows, make):
    loader = DataLoader(rows, batch_size=8, num_workers=4, pin_memory=True)
    model = make(rows)
    for data in loader:
        model.feed_data(data)
        model.optimize_parameters()
