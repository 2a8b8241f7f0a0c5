"""Fake quantisation whose bit-width can be switched between steps."""
import torch
import torch.nn as nn


class LearnableFakeQuantize(nn.Module):
    def __init__(self, bits):
        super().__init__()
        self.bits = bits
        self.calibrated = False
        self.running_min = None
        self.running_max = None

    def set_bits(self, bits):
        self.bits = bits

    def observe(self, x):
        min_val = x.min()
        max_val = x.max()
        if not self.calibrated:
            self.running_min = min_val.cpu().clone()
            self.running_max = max_val.cpu().clone()
            self.calibrated = True
        else:
            self.running_min = self.running_min * 0.9 + min_val.cpu() * 0.1
            self.running_max = self.running_max * 0.9 + max_val.cpu() * 0.1

    @torch.no_grad()
    def quantization_parameters(self, device):
        levels = 2**self.bits - 1
        low = self.running_min.clamp(max=0.0)
        high = self.running_max.clamp(min=0.0)
        scale = ((high - low) / levels).clamp(min=1e-8)
        zero_point = (-low / scale).round().clamp(0, levels).to(torch.int32)
        return scale.to(device), zero_point.to(device), levels

    def forward(self, x):
        if self.training or not self.calibrated:
            self.observe(x)
        scale, zero_point, levels = self.quantization_parameters(x.device)
        return torch.fake_quantize_per_tensor_affine(x, scale, zero_point, 0, levels)
