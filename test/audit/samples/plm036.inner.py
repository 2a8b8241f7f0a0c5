import torch
import torch.nn.functional as F
from torch import nn


class WideHead(nn.Sequential):
    def forward(self, x):
        return F.linear(x.float(), self[0].weight.to(torch.float32))  # expect: PLM036


class Around(nn.Module):
    def __init__(self, base, norm):
        super().__init__()
        self.base = base
        self.norm = norm

    def forward(self, x, tokens):
        table = self.base.words.weight.float()  # expect: PLM036
        x = x + F.embedding(tokens, table)
        x = x @ self.base.head.weight.half().t()  # expect: PLM036
        # trap: few numbers, and wide on purpose
        x = F.layer_norm(x, x.shape[-1:], self.norm.weight.float())
        # trap: few numbers, and chosen by in full precision on purpose
        chosen = F.linear(x.float(), self.base.router.weight.float())
        # trap: multiplied one by one, as a norm's
        return x * self.norm.weight.float() + chosen

    def merged(self, x):
        # trap: once, when somebody asks for it
        return F.linear(x, self.base.head.weight.float())
