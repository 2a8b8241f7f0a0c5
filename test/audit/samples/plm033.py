import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        # trap: once, at construction
        self.scale = torch.tensor([0.5, 0.5]).to("cuda")

    def forward(self, x):
        mean = torch.tensor([0.485, 0.456, 0.406], device=x.device)  # expect: PLM033
        std = torch.tensor([0.229, 0.224, 0.225]).to(x.device)  # expect: PLM033
        # trap: stays on the host
        host = torch.tensor([1, 2, 3])
        # trap: made on the device, no copy
        ones = torch.ones(3, device=x.device)
        # no constant, but a copy that waits all the same
        sizes = torch.tensor([len(x)], device=x.device)  # expect: PLM033
        return (x - mean) / std * ones, host, sizes


def penalty(model):
    identity = torch.tensor([0.0, 1.0, 0.0, 0.0])
    total = []
    for module in model.modules():
        target = identity.to(module.weight.device)  # expect: PLM033
        total.append(((module.weight - target) ** 2).mean())
    return torch.stack(total).mean()


def setup(device):
    # trap: not hot
    return torch.tensor([1.0, 2.0], device=device)


class Weighted(nn.Module):
    def forward(self, x, names, drawn):
        weights = [1.0] * len(names)
        weights[0] = 0.0
        weight = torch.tensor(weights, device=x.device)  # expect: PLM033
        picked = [drawn] * len(names)
        # trap: whatever was drawn, as often
        pick = torch.tensor(picked, device=x.device)
        return x * weight, pick
