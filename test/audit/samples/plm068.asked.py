import numpy as np
import torch


def train(model, criterion, loader, optimizer):
    model.cuda()
    for x, y in loader:
        loss = criterion(model(x.cuda()), y.cuda())
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if isinstance(norm, float):
            # trap: a number here, as older versions return it
            if np.isinf(norm):
                continue
        optimizer.step()
