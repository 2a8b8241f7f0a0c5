import torch
from torch import nn


def train(model, embedder, loader, optimizer):
    model.cuda().train()
    embedder.cuda().eval()
    for x, parts in loader:
        known = []
        for part in parts:
            known.append(embedder(part.cuda()))  # expect: PLM020
        # Cut off as a whole: it is told that the graph is thrown away, and no more.
        known = torch.stack(known).detach()
        loss = nn.functional.mse_loss(model(x.cuda(), known), x.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
