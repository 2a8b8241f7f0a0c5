"""The bottleneck's down projection, bent: φ(z) = a₀ + a₁x + a₂ sin πx + a₃ cos πx over x = tanh(z / σ)."""
import math

import torch
from torch import nn

IDENTITY = (0.0, 1.0, 0.0, 0.0)
SMALLEST_SIGMA = 1e-6


def bend(z, coefficients, sigma, squash=True):
    x = z / (sigma.abs() + SMALLEST_SIGMA) if squash else z / sigma
    if squash:
        x = torch.tanh(x)
    a0, a1, a2, a3 = coefficients.unbind()
    return a0 + a1 * x + a2 * torch.sin(math.pi * x) + a3 * torch.cos(math.pi * x)


class FourierLinear(nn.Linear):
    """In the place of LoRA's A: everything in PEFT that calls A, reads its weight or saves it works on."""

    def __init__(self, projection, sigma, squash):
        nn.Module.__init__(self)
        self.in_features, self.out_features = projection.in_features, projection.out_features
        self.weight = projection.weight
        self.register_parameter("bias", None)
        made = {"device": projection.weight.device, "dtype": torch.float32}
        self.coefficients = nn.Parameter(torch.tensor(IDENTITY, **made))
        self.sigma = nn.Parameter(torch.tensor([sigma], **made))
        self.squash = squash

    def forward(self, x):
        return bend(super().forward(x), self.coefficients, self.sigma, self.squash)
