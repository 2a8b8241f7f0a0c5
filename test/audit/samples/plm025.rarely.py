import torch
import torch.nn as nn
import torch.nn.functional as F
from project import cfg


class Net(nn.Module):
    def __init__(self, flow):
        super().__init__()
        self.flow = flow

    def compute(self, x):
        flows = self.flow(x)
        if self.on_host:
            # trap: a part of the forward that goes on with it there
            flows = flows.cpu()
        return flows

    def forward(self, x):
        return self.compute(x)


def scores(out, keep=True):
    if not keep:
        # trap: off unless somebody asks for it
        out = out.sum().item()
    return out


class Trainer:
    def step(self, batch):
        loss = F.mse_loss(self.model(batch.cuda()), batch.cuda())
        loss.backward()
        self.optimizer.step()
        return loss.item()  # expect: PLM025

    def warm_up(self):
        self.step(torch.zeros(1))

    def evaluate(self):
        total = torch.zeros((), device="cuda")
        # trap: once an epoch, although an epoch begins with a step
        return total.item()

    def epoch(self, loader):
        self.warm_up()
        for batch in loader:
            # trap: to the configured device
            batch = batch.to(torch.device(cfg.device))
            scores(self.step(batch))

    def fit(self, loader):
        for _ in range(3):
            self.epoch(loader)
            self.evaluate()
