# trap: the engine adds up what it clipped for each example, and divides by the whole batch itself
import torch
from fastDP import PrivacyEngine


def train(model, loader, optimizer, criterion, batch, minibatch):
    engine = PrivacyEngine(model, batch_size=batch, sample_size=50000)
    engine.attach(optimizer)
    steps = batch // minibatch
    for t, (x, y) in enumerate(loader):
        loss = criterion(model(x.cuda()), y.cuda())
        loss.backward()
        if (t + 1) % steps == 0:
            optimizer.step()
            optimizer.zero_grad()
