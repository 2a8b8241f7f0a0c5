import torch
from torch.utils.data import DataLoader


def prepare(train, test):
    # trap: all of it at once, to be written to a file
    loader = DataLoader(train, batch_size=len(train), shuffle=False)
    # trap: the same
    other = DataLoader(test, len(test))
    return next(iter(loader)), next(iter(other))


def train(data, model, optimizer, device="cuda"):
    loader = DataLoader(data, batch_size=8, pin_memory=False)  # expect: PLM038
    for x, y in loader:
        torch.nn.functional.mse_loss(model(x.to(device)), y.to(device)).backward()
        optimizer.step()
        optimizer.zero_grad()


def explained(data, model, device="cuda"):
    loader = DataLoader(
        data,
        batch_size=8,
        pin_memory=False,  # lengths vary # expect: PLM038, by hand
    )
    # trap: pinned
    pinned = DataLoader(data, batch_size=8, num_workers=2, pin_memory=True)
    for x, z in zip(loader, pinned):
        model(x.to(device) + z.to(device)).sum().backward()
