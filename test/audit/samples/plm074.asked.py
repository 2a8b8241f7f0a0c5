import torch
from torch import nn


class Loss(nn.Module):
    def forward(self, scores):
        if self.use_double_prec:
            # trap: whoever sets it wants it
            return scores.double().exp()
        scores = scores.to(self.device)
        return scores.exp().double()  # expect: PLM074
