import torch
from torch import nn


class Detector(nn.Module):
    def make_optimizer(self, rate, adaptive):
        params = []
        for name, value in dict(self.named_parameters()).items():
            if name.startswith("stem."):  # expect: PLM066
                continue
            if value.requires_grad:
                if "bias" in name:
                    params += [{"params": [value], "lr": rate * 2}]
                else:
                    params += [{"params": [value], "lr": rate}]
        return torch.optim.Adam(params) if adaptive else torch.optim.SGD(params, momentum=0.9)
