import torch.nn as nn


class Mix(nn.MultiheadAttention):
    pass


def attention(dim):
    return nn.MultiheadAttention(dim, 4, batch_first=True)


class Layer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.mix = Mix(dim, 4)
        self.made = attention(dim)
        self.stages = nn.ModuleList()
        for _ in range(3):
            self.stages.append(nn.ModuleList([nn.LayerNorm(dim), nn.MultiheadAttention(dim, 4)]))
        self.other = nn.Bilinear(dim, dim, dim)

    def forward(self, x):
        x = self.mix(query=x, key=x, value=x)[0]  # likely: PLM067
        x, weights = self.made(x, x, x)  # likely: PLM067
        del weights
        for norm, cross in self.stages:
            x = x + cross(norm(x), x, x)[0]  # expect: PLM067
        # trap: no attention
        y = self.other(x, x, x)[0]
        # trap: read
        z, seen = self.mix(x, x, x)
        # trap: not asked for
        return self.made(x, x, x, need_weights=False)[0] + y + z, seen


class Stack(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = layers

    def forward(self, x):
        for layer in self.layers:
            x = x + layer.mix(x, x, x)[0]  # likely: PLM067
        return x
