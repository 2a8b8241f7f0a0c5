import torch
from torch.nn import functional as F


class Tried:
    def penalty(self, real):
        (given,) = torch.autograd.grad(self.judge(real).sum(), real, create_graph=True)
        return given.pow(2).mean()

    def epoch(self, loader):
        for x in loader:
            loss = F.softplus(self.judge(x)).mean()
            self.optimizer.zero_grad()
            loss.backward(retain_graph=True)  # expect: PLM007
            self.optimizer.step()
