import torch
from torch.nn import functional as F


def train(model, loader, optimizer):
    model.cuda()
    losses, measured = [], []
    for x, y in loader:
        loss = F.mse_loss(model(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            losses.append(loss)  # expect: PLM002
            error = (model(x.cuda()) - y.cuda()).abs().mean()
            # trap: computed where nothing is recorded
            measured.append(error)
    return losses, measured
