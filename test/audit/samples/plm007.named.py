import torch
from torch.nn import functional as F


class Asked:
    def slopes(self, loss):
        return torch.autograd.grad(loss, list(self.judge.parameters()))

    def epoch(self, loader):
        for x in loader:
            loss = F.softplus(self.judge(x)).mean()
            self.optimizer.zero_grad()
            # trap: its slopes are asked for below
            loss.backward(retain_graph=True)
            self.optimizer.step()
            print(self.slopes(loss)[0].norm().item())
