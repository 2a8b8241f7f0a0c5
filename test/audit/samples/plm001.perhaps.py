"""Parts of a loss that may be plain numbers."""

import torch


def train(net, criterion, loader, optimizer):
    net.cuda()
    total = spread = kept = 0.0
    for x, y in loader:
        out = net(x.cuda())
        part = criterion(out, y.cuda())
        other = out.var() if out.numel() > 1 else 0.0
        loss = part + other
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += part.item() if torch.is_tensor(part) else part
        spread += other.item() if isinstance(other, torch.Tensor) else other
        kept += part if torch.is_tensor(part) else 0.0  # expect: PLM001
    return total, spread, kept
