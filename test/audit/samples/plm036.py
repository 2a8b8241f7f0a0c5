import torch
import torch.nn as nn


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))
        self.scales = nn.ModuleDict()

    def forward(self, x):
        w = self.weight.to(x.device)  # expect: PLM036
        half = self.weight.to(x.dtype)  # expect: PLM036
        # trap: to the type of what it is joined with, of the module itself
        same = x.to(self.weight.dtype)
        # trap: the input, not the module's own
        y = x.to(self.weight.device)
        return y * w + half + same

    def apply_scale(self, z: torch.Tensor, name: str):
        params = self.scales[name]
        coeffs = params.weight.to(z.device)  # expect: PLM036
        return z * coeffs

    def once(self, device):
        # trap: called once, with a device
        return self.weight.to(device)


class Helped(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Parameter(torch.ones(4))

    def beside(self, vector, x):
        return vector.to(x.device)  # expect: PLM036

    def near(self, vector, x):
        # trap: not always a parameter
        return vector.to(x.device)

    def forward(self, x, y):
        return x * self.beside(self.query, x) + self.near(y, x) + self.near(self.query, x)


class Cast(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)
        self.table = nn.Parameter(torch.ones(4, 4))
        self.norm = nn.LayerNorm(4)

    def forward(self, x):
        y = nn.functional.linear(x, self.proj.weight.to(torch.bfloat16))  # expect: PLM036
        z = x @ self.table.half()  # expect: PLM036
        # trap: what is the input's
        half = x.to(torch.bfloat16)
        # trap: in full precision, for a norm
        w = self.norm.weight.float()
        # trap: what was computed from it is another tensor each time
        scaled = (self.table * x.mean()).to(torch.bfloat16)
        return y + z + half + w + scaled

    def export(self):
        # trap: once
        return self.table.to(torch.float16)
