import torch
import torch.nn.functional as F
from torch import nn


class Near(nn.Module):
    def __init__(self, kinds, width):
        super().__init__()
        self.middles = nn.Parameter(torch.randn(kinds, width))
        self.words = nn.ModuleDict({"in": nn.Embedding(kinds, width)})
        self.register_buffer("counts", torch.zeros(kinds))

    def forward(self, x, ids):
        near = x.mm(self.middles.type(x.type()).t())  # expect: PLM036
        far = F.linear(x, self.words["in"].weight.to(torch.bfloat16).to(x.dtype))  # expect: PLM036
        # trap: no parameter
        near = near + self.counts.type(x.type()) + ids.type(x.type())
        # trap: what kind of thing it is
        if self.middles.type() == x.type():
            near = near * 2
        return near + far

    def extra_repr(self):
        # trap: no forward
        return str(self.middles.type(self.counts.type()))
