import torch
import torch.nn as nn


class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8)

    def forward(self, x, lengths):
        longest = lengths.max()
        x = x[:, :longest]  # expect: PLM068
        positions = torch.arange(x.size(1), device=x.device)
        mask = positions[None, :] < lengths[:, None]
        return self.proj(x) * mask.unsqueeze(-1)


class Sent(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8)

    def forward(self, x, lengths):
        # trap: on the host, as it is only sent for the comparison
        x = x[:, : lengths.max()]
        mask = torch.arange(x.size(1), device=x.device)[None, :] < lengths.to(x.device)[:, None]
        return self.proj(x) * mask.unsqueeze(-1)


class Beside(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8)

    def forward(self, x, lengths):
        # trap: made where the lengths are, wherever that is
        x = x[:, : lengths.max()]
        mask = torch.arange(x.size(1), device=lengths.device)[None, :] < lengths[:, None]
        return self.proj(x) * mask.to(x.device).unsqueeze(-1)


def train(model, loader, optimizer):
    model.cuda()
    for x, lengths in loader:
        loss = model(x.cuda(), lengths).mean()
        loss.backward()
        optimizer.step()
