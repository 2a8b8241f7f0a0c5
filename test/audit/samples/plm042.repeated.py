import torch
from torch import nn
from torch.nn import functional as F


class Edges(nn.Module):
    def __init__(self):
        super().__init__()
        self.kernel = torch.tensor([[0.0, -1.0, 0.0], [-1.0, 4.0, -1.0], [0.0, -1.0, 0.0]])
        self.register_buffer("kept", torch.ones(3, 3))

    def forward(self, x):
        # trap: a buffer moves with the module
        kept = self.kept[None, None].repeat(x.size(1), 1, 1, 1).to(x.device)
        kernel = self.kernel.unsqueeze(0).unsqueeze(1).repeat(x.size(1), 1, 1, 1).to(x.device)  # expect: PLM042
        return F.conv2d(x, kernel * kept, padding=1, groups=x.size(1))


class Target(nn.Module):
    def __init__(self):
        super().__init__()
        self.real, self.fake = torch.tensor(1.0), torch.tensor(0.0)
        self.register_buffer("high", torch.tensor(1.0))
        self.register_buffer("low", torch.tensor(0.0))

    def forward(self, x, is_real):
        wanted = self.real if is_real else self.fake
        wanted = wanted.to(x.device).expand_as(x)  # expect: PLM042
        # trap: buffers
        bound = (self.high if is_real else self.low).to(x.device)
        return F.mse_loss(x, wanted) * bound
