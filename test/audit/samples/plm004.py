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


class Stem(nn.Module):
    def __init__(self, w_in, w_out):
        super().__init__()
        self.assemble(w_in, w_out)

    def assemble(self, w_in, w_out):
        # trap: parts and sizes that the constructor has it make
        self.conv = nn.Conv2d(w_in, w_out, 3)
        self.tail = Tail(w_out)
        self.width = w_out

    def widen(self, w_out):
        # trap: a part
        self.conv = nn.Conv2d(self.width, w_out, 3)

    def __replicate__(self, copy_id):
        # trap: no tensor by its name
        self.replica = copy_id

    def assess(self, x):
        self.seen = self.conv(x)  # expect: PLM004
        return self.tail(self.seen * 2)

    def forward(self, x):
        return self.assess(x)


class Tail(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
