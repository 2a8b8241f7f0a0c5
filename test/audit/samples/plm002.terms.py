import torch
from torch import nn


def losses_of(nets, x):
    near = nets["near"](x).mean()
    far = nets["far"](x).mean()
    with torch.no_grad():
        seen = (near > far).float()
    return near + far, {"near": near, "far": far}, {"seen": seen}


class Solver:
    def __init__(self):
        self.nets = {"near": nn.Linear(3, 3).cuda(), "far": nn.Linear(3, 3).cuda()}
        self.optimizer = torch.optim.Adam([*self.nets["near"].parameters(), *self.nets["far"].parameters()])
        self.kept, self.told = {}, {}

    def train(self, loader):
        for x in loader:
            loss, terms, shown = losses_of(self.nets, x.cuda())
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            for name, value in terms.items():
                self.kept.setdefault(name, []).append(value)  # expect: PLM002
            for name, value in shown.items():
                # trap: no terms of the loss
                self.told.setdefault(name, []).append(value)


Solver().train(torch.ones(4, 2, 3))
