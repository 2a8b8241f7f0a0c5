"""Parts of a batch by their positions, each with its own mean."""

import torch.nn.functional as F


def train(model, loader, optimizer, size, acc_steps, batches):
    for x, y in loader:
        for a in range(0, len(x), size):
            loss = F.cross_entropy(model(*[x[a : a + size].cuda()]), y[a : a + size].cuda())
            loss.backward()  # expect: PLM065
        optimizer.step()
        optimizer.zero_grad()
    for x, y in loader:
        for a in range(0, len(x), size):
            loss = F.cross_entropy(model(x[a : a + size].cuda()), y[a : a + size].cuda())
            loss = loss * size / len(x)
            loss.backward()  # trap: by its share of the batch
        optimizer.step()
        optimizer.zero_grad()
    while True:
        for _ in range(acc_steps):
            x, y = next(batches)
            loss = F.cross_entropy(model(x.cuda()), y.cuda())
            loss.backward()  # expect: PLM065
        optimizer.step()
        optimizer.zero_grad()
