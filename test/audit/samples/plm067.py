import torch.nn as nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(8, 2, batch_first=True)
        self.other = nn.Linear(8, 8)

    def forward(self, x):
        a, _ = self.attn(x, x, x)  # expect: PLM067
        b = self.attn(x, x, x)[0]  # expect: PLM067
        # trap: not asked for
        c, _ = self.attn(x, x, x, need_weights=False)
        # trap: read
        d, weights = self.attn(x, x, x)
        # trap: handed on
        e = self.attn(x, x, x)
        # trap: another module
        f, _ = self.other(x)
        return a + b + c + d + f, weights, e
