import torch
import torch.nn.functional as F
from torch import nn


class Coder(nn.Module):
    def __init__(self, width, codes, vectors, table, tied, skips):
        super().__init__()
        self.into = nn.Linear(width, codes)
        if tied:
            self.back = None
        else:
            self.back = nn.Parameter(torch.zeros(codes, width))
        self.skip = nn.Parameter(torch.zeros(width, width)) if skips else None
        self.words = nn.Embedding(10, 4).from_pretrained(vectors)
        self.table = table if tied else None
        self.norm = nn.LayerNorm(width)

    def forward(self, x: torch.Tensor, ids):
        y = x @ self.back.to(x.dtype)  # expect: PLM036
        y = y + x @ self.skip.to(torch.bfloat16)  # expect: PLM036
        y = y + F.embedding(ids, self.words.weight.to(torch.float32))  # expect: PLM036
        # trap: no parameter
        y = y + x @ self.table.to(x.dtype)
        # trap: few numbers, and wide on purpose
        return F.layer_norm(y, y.shape[-1:], self.norm.weight.float())
