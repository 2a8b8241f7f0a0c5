import torch
from torch import nn


class Alibi(nn.Module):
    def forward(self, scores, lengths):
        positions = torch.arange(scores.size(-1), device=scores.device)
        bias = (positions[None, :] - positions[:, None]).abs()  # expect: PLM078
        # trap: of the input
        other = lengths[None, :] - lengths[:, None]
        # trap: one row
        row = positions - 1
        return scores - bias - other - row
