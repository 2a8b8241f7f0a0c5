import torch.nn as nn


class Lora(nn.Module):
    def __init__(self, scaling):
        super().__init__()
        self.scaling = scaling
        self.lora_A = nn.Linear(8, 2)
        self.lora_B = nn.Linear(2, 8)

    def forward(self, x, a, b):
        y = (x @ a @ b) * self.scaling  # expect: PLM048
        z = self.lora_B(self.lora_A(x)) * self.scaling  # expect: PLM048
        # trap: the small operand is scaled
        w = ((x * self.scaling) @ a) @ b
        # trap: rebound
        v = x @ a
        v = v @ b
        v = v * self.scaling
        # trap: one product, by another tensor
        u = (x @ a) * b
        return y + z + w + v + u


def once(x, a, b):
    # trap: nobody knows how often
    return (x @ a @ b) * 2.0
