import torch


def joined(batch, device, non_blocking=True):
    image, mask = batch
    return torch.cat([image, mask], dim=1).to(device, non_blocking=non_blocking)  # expect: PLM072


def waited(batch, device, non_blocking=False):
    image, mask = batch
    # trap: nobody asked for a copy that is not waited for
    return torch.cat([image, mask], dim=1).to(device, non_blocking=non_blocking)


def moved(batch, device):
    image, mask = (part.to(device, non_blocking=True) for part in batch)
    # trap: joined where it is wanted
    return torch.cat([image, mask], dim=1)


def halves(batch, device):
    image, mask = batch
    # trap: the join is of tensors that are made here, on the device
    return torch.cat([torch.zeros_like(image, device=device), torch.ones_like(mask, device=device)], dim=1)


def train(model, loader, optimizer, device):
    for batch in loader:
        loss = model(joined(batch, device), waited(batch, device), moved(batch, device), halves(batch, device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
