import torch
import torch.nn.functional as F
from torch import nn


class Adapted(nn.Module):
    def __init__(self, width, rank):
        super().__init__()
        self.body = nn.Linear(width, width)
        self.down = nn.Parameter(torch.empty(rank, width))
        self.up = nn.Parameter(torch.zeros(width, rank))
        self.merged = False

    def has_adapter(self):
        return self.up.shape[1] > 0

    def forward(self, x):
        y = self.body(x)
        if not self.merged and self.has_adapter():
            y = y + F.linear(F.linear(x, self.down.to(x.dtype)), self.up)  # expect: PLM036
        if not self.training:
            # trap: when it is evaluated
            y = y + F.linear(F.linear(x, self.down), self.up.to(x.dtype))
        return y


class Stack(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.places = nn.init.trunc_normal_(nn.Parameter(torch.zeros(1, 1024, width)), std=0.02)
        self.centres = nn.Parameter(torch.randn(256, width))
        self.low = True

    def forward(self, x):
        x = x + self.places.to(torch.bfloat16)[:, : x.shape[1]]  # expect: PLM036
        for at, layer in enumerate(self.layers[:-1]):
            x = F.linear(x, layer.weight.bfloat16(), layer.bias)  # expect: PLM036
            # trap: what the layer gives, and not the layer
            x = layer(x).bfloat16()
        centres = self.centres if x.shape[0] > 1 else self.centres[:1]
        near = torch.cdist(x.double(), self.centres.double())  # expect: PLM036
        # trap: a part that was chosen before
        return near + torch.cdist(x, centres.half())


def train(model, loader, optimizer, device):
    model.to(device)
    for tokens, wanted in loader:
        hidden = model.body(tokens.to(device))
        head = model.get_output_embeddings().weight.float()  # expect: PLM036
        loss = F.cross_entropy((hidden.float() @ head.t()).flatten(0, 1), wanted.to(device).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    # trap: once, after the training
    return torch.linalg.svdvals(model.get_output_embeddings().weight.float())
