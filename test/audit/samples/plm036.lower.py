import torch.nn.functional as F
from torch import nn


class Face(nn.Module):
    def __init__(self, body, width, size, fp16=False, tied=False):
        super().__init__()
        self.body = body
        self.fp16 = fp16
        self.tied = tied
        self.head = nn.Linear(width, size)

    def forward(self, x):
        x = self.body(x)
        if self.fp16:
            return F.linear(x, self.head.weight.to(x.dtype))  # expect: PLM036
        if self.tied:
            # trap: under a setting of something else, that is off unless somebody asks for it
            return F.linear(x, self.head.weight.to(x.dtype))
        # trap: the input is cast, and the layer keeps its type
        return self.head(x.float())
