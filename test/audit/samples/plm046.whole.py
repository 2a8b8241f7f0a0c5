import torch.nn as nn


def train(model, loader, optimizer):
    criterion = nn.CrossEntropyLoss()
    model.cuda()
    for tokens in loader:
        optimizer.zero_grad(set_to_none=True)
        out = model(tokens[:, :-1])
        # trap: they are float32 already
        loss = criterion(out.float().reshape(-1, out.shape[-1]), tokens[:, 1:].reshape(-1))
        loss.backward()
        optimizer.step()
