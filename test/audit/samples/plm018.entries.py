import torch
import torch.nn as nn
import torch.nn.functional as F


class Weighted(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(()))
        self.register_buffer("hits", torch.zeros(()))
        self.register_buffer("cut", torch.zeros(()))
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, logits, labels):
        parts = self.parts(logits, labels)
        self.mean = 0.9 * self.mean + 0.1 * parts["class"]  # expect: PLM018
        # trap: cut off where it is made
        self.cut = 0.9 * self.cut + 0.1 * parts["told"]
        # trap: counted
        self.hits = 0.9 * self.hits + 0.1 * parts["hits"]
        # trap: of what has no graph
        self.seen = 0.9 * self.seen + 0.1 * self.parts(logits.detach(), labels.detach())["class"]
        return parts["class"] / self.mean

    def parts(self, logits, labels):
        loss = F.cross_entropy(logits, labels)
        hits = logits.argmax(-1)
        return {"class": loss, "told": loss.detach(), "hits": hits}


def train(model, loader, optimizer):
    criterion = Weighted().cuda()
    for x, y in loader:
        loss = criterion(model(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
