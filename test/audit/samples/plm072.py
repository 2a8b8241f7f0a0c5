import torch
from torch.utils.data import DataLoader

device = torch.device("cuda")


def train(model, first, second, optimizer):
    left = DataLoader(first, num_workers=2, pin_memory=True)
    right = DataLoader(second, num_workers=2, pin_memory=True)
    plain = DataLoader(second, num_workers=2)
    for (a, _), (b, _) in zip(left, right):
        x = torch.cat([a, b]).to(device, non_blocking=True)  # expect: PLM072
        model(x).sum().backward()
        optimizer.step()
    for views in left:
        joined = torch.cat(views)  # expect: PLM072
        joined = joined.cuda(non_blocking=True)
        # trap: joined on the device
        other = torch.cat([part.to(device, non_blocking=True) for part in views])
        (model(joined) + model(other)).sum().backward()
        optimizer.step()
    for a, b in plain:
        # trap: nothing was pinned
        x = torch.cat([a, b]).to(device)
        model(x).sum().backward()
        optimizer.step()
    for a, b in left:
        # trap: it stays on the host
        both = torch.cat([a, b])
        model(a.to(device, non_blocking=True)).sum().backward()
        optimizer.step()
        print(both.shape)
