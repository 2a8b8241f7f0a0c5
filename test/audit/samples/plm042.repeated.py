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
