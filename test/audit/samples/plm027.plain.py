import torch
import torch.nn as nn
import torch.nn.functional as F


class Clusters(nn.Module):
    def __init__(self, patch):
        super().__init__()
        self.patch = patch
        self.time = nn.Parameter(torch.zeros(1, 8, 4))

    def forward(self, x, labels=None):
        x, T, W = self.patch(x)
        # trap: a size that comes with the tensor
        if T != self.time.size(1):
            x = x * 2
        # trap: compared with nothing
        if labels == None:
            return x
        if self.training:
            centers = x[:, :2].detach()
        else:
            centers = x.mean(1)
            # trap: in evaluation only
            while centers.norm() > 1:
                centers = centers / 2
        return centers


def train(model, loader, optimizer, accum_grad):
    for i, (x, y) in enumerate(loader, 1):
        loss = F.cross_entropy(model(x.cuda()), y.cuda())
        loss /= accum_grad
        loss.backward()
        if loss > 100:  # expect: PLM027
            raise ValueError("diverged")
        # trap: two counters, one of which the loss was divided by
        if i % accum_grad == 0:
            optimizer.step()
            optimizer.zero_grad()


class Split(torch.nn.Module):
    def forward(self, x):
        patches, grid = self.splitter(x)
        # trap: compared with a tuple, it is one
        if grid == (1, 1):
            return patches
        return torch.cat([patches, patches])
