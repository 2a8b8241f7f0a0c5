import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8)

    def forward(self, x, y):
        scores = torch.softmax(x @ y.transpose(-1, -2), dim=-1)
        self.last_scores = scores  # expect: PLM004
        # trap: an auxiliary loss
        self.balance = scores.mean()
        # trap: cut already
        self.seen = scores.detach()
        # trap: a number
        self.length = x.shape[1]
        # trap: nobody here reads it, another file may
        self.entropy = -(scores * scores.log()).sum()
        return scores @ y


def show(layer, loss):
    picture = layer.last_scores.detach().cpu().numpy()
    return loss + layer.balance, picture, layer.seen.numpy(), layer.length
