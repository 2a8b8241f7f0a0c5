"""What becomes of the copies: where all that is seen of it reads them as it would a view, `expand` does as well."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from layers import modulate


class ConstantInput(nn.Module):
    def __init__(self, channels, size):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(1, channels, size, size))

    def forward(self, batch):
        out = self.weight.repeat(batch, 1, 1, 1)  # expect: PLM045, by hand
        return out


class Generator(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.begin = ConstantInput(width, 4)
        self.query = nn.Parameter(torch.randn(1, 8, width))
        self.first = nn.Parameter(torch.zeros(1, 1, width))
        self.proj = nn.Linear(width, width)
        self.gru = nn.GRU(width, width)

    def forward(self, styles, times):
        n = styles.size(0)
        query = self.query.repeat(n, 1, 1)  # expect: PLM045
        mixed = torch.cat([styles.unsqueeze(1), self.proj(query)], dim=1)
        memory = self.first.repeat(1, n, 1)  # expect: PLM045, by hand
        mixed, _ = self.gru(mixed.transpose(0, 1), memory)
        blank = times.unsqueeze(-1).repeat(1, 1, 8)  # expect: PLM045, by hand
        mixed = modulate(mixed, blank)
        noise = times.unsqueeze(-1).repeat(1, 1, 8)  # expect: PLM045
        # trap: asked for as copies
        laid = times.unsqueeze(-1).repeat(1, 1, 8).contiguous()
        # trap: written into
        rows = styles[:, None, :].repeat(1, 4, 1)
        rows[:, 0] = 0
        # trap: in place
        scores = styles.float().unsqueeze(0).repeat(n, 1, 1).sigmoid_()
        return self.begin(n), mixed + noise, modulate(laid, rows), scores


def train(styles, times, optimizer):
    model = Generator(64).cuda()
    for style, time in zip(styles, times):
        begun, mixed, laid, scores = model(style.cuda(), time.cuda())
        loss = F.mse_loss(mixed, laid) + begun.mean() + scores.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Attention(nn.Module):
    def __init__(self, heads, width):
        super().__init__()
        self.heads = heads
        self.width = width
        self.places = nn.Parameter(torch.zeros(8, width))

    def forward(self, mask, scores):
        # trap: the batch is repeated, not the new dimension
        mask = mask[:, None, :].repeat(self.heads, 1, 1)
        # trap: the same, laid out
        wide = scores.unsqueeze(1).repeat(self.heads, 1, 1)
        columns = torch.arange(self.width, device=mask.device).repeat(1, self.heads, 1)  # expect: PLM045, by hand
        rows = torch.arange(self.width, device=mask.device).repeat(self.heads, 1)  # expect: PLM045
        listed = scores.unsqueeze(0).repeat([self.heads, 1, 1])  # expect: PLM045, by hand
        return scores + mask.mean() + wide.sum() + columns * rows + listed


def attend(masks, scores, optimizer):
    model = Attention(8, 64).cuda()
    for mask, score in zip(masks, scores):
        loss = model(mask.cuda(), score.cuda()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
