import torch
from torch import nn


class Branch(nn.Module):
    def forward(self, x, images):
        wide = self.zero_pad(self.down(x.cuda()))
        scaled = wide * self.scaling  # expect: PLM048
        # trap: the same name
        wider = self.zero_pad(self.up(x))
        wider = wider * self.scaling
        # trap: it learns
        learnt = self.zero_pad(self.side(x))
        gated = learnt * self.gate
        # trap: a number an example
        score = self.score_of(x)
        halved = score * 0.5
        # trap: no product is scaled, and nobody knows how large it is
        pictures = (images - self.mean) / self.std
        return x + scaled + wider + gated, pictures, halved

    def __init__(self, width, scaling):
        super().__init__()
        self.scaling = scaling
        self.gate = nn.Parameter(torch.ones(1))
        self.down, self.up, self.side = [nn.Linear(width, width) for _ in range(3)]


class Block(nn.Module):
    def __init__(self, width, res_scale=1):
        super().__init__()
        self.res_scale = res_scale
        self.conv = nn.Conv2d(width, width, 3)

    def forward(self, x, margin, ratio):
        # trap: what a layer made is scaled, beside the sum
        out = self.conv(torch.relu(x))
        scaled = x + out * self.res_scale
        # trap: a number for each example
        over = torch.relu(ratio - margin)
        return scaled, 100.0 * over, (x / 4.0).softmax(dim=-1)


def running(criterion, logits, labels, history, t):
    # trap: losses, one for each example
    loss = criterion(logits, labels, reduction="none").sum(1)
    weighed = labels.float() * loss
    return 0.1 * weighed + 0.9 * history.gather(0, t)


class Mix(nn.Module):
    def forward(self, queries, keys):
        gain = self.gains[0].item()
        rows = torch.einsum("bnd,bmd->bnm", queries, keys)
        stretched = rows * gain  # likely: PLM048
        return stretched.relu()


class Match(nn.Module):
    def forward(self, queries, keys, same):
        scores = torch.matmul(queries.flatten(0, 1), keys.flatten(0, 1).T)
        scores = scores.view(*queries.shape[:2], *keys.shape[:2])
        scaled = scores / (self.args.width**0.5)  # likely: PLM048
        kept = scaled * same
        # trap: what a layer gave, a row for each example
        logits = self.head(queries)
        logits = logits.view(len(queries), -1)
        cooled = logits / (self.args.width**0.5)
        return kept.amax(dim=3), cooled
