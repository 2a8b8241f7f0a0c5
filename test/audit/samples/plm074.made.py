import torch
import torch.nn.functional as F
from torch import nn


class Contrast(nn.Module):
    def __init__(self, temperature=0.1, dtype=torch.float64, shown=torch.float32):
        super().__init__()
        self.temperature = temperature
        self.dtype = dtype
        self.shown = shown

    def forward(self, a, b):
        near = F.normalize(a, dim=1).to(self.dtype) @ b.T  # expect: PLM074
        # trap: float32
        return near / self.temperature, a.to(self.shown)


def gaussian_nll(mean, spread, wanted):
    mean, spread = (t.double() for t in (mean, spread))  # expect: PLM074
    return 0.5 * (spread + (wanted - mean) ** 2 / spread.exp()).mean()


def train(model, loader, optimizer, device):
    model = model.cuda()
    contrast = Contrast().cuda()
    for x, y in loader:
        scores = model(x.cuda())
        weight = torch.ones(scores.shape[0], dtype=torch.float64, device="cuda")  # expect: PLM074
        loss = (weight * F.cross_entropy(scores, y.cuda(), reduction="none")).mean()
        loss = loss + F.mse_loss(scores.type("torch.cuda.DoubleTensor"), y.cuda())  # expect: PLM074
        # trap: two numbers to count with
        counted = torch.zeros(2, dtype=torch.float64, device="cuda")
        # trap: on the host
        order = torch.ones(scores.shape[0], dtype=torch.float64)
        # trap: float32
        plain = torch.ones(scores.shape[0], dtype=torch.float32, device="cuda")
        loss = loss + contrast(scores, scores)[0].mean() + gaussian_nll(scores, scores, y.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(counted.shape, order.shape, plain.shape)
