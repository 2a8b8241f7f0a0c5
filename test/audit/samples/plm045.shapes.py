import torch
from torch import nn
from torch.nn import functional as F


class Weighted(nn.Module):
    def forward(self, scores, wanted, weights, gate, rows):
        n, c, h, w = scores.shape
        logs = F.log_softmax(scores, dim=1)
        logs = logs * weights.repeat(1, c, 1, 1)  # expect: PLM045
        sure = (-scores / 2.0).sigmoid()
        sure = gate.repeat(1, c, 1, 1) + sure  # expect: PLM045
        # trap: pooled to another size
        small = F.adaptive_avg_pool2d(scores, 4) * rows.repeat(1, 1, h, 1)
        # trap: joined, it is longer than what was measured
        both = torch.cat([scores, wanted], dim=1) * gate.repeat(1, c, 1, 1)
        # trap: the sum along a dimension has it no more
        total = scores.sum(1) * rows.repeat(1, c, 1)
        return logs, sure, small, both, total
