import torch
import torch.nn.functional as F


def train(model, loader, optimizer, names):
    model.cuda()
    for x, y in loader:
        loss = F.cross_entropy(model(x.cuda()), y.cuda())
        loss.backward()
        if any(torch.isnan(p.grad).any() for p in model.parameters()):  # expect: PLM068
            continue
        if all(p.grad is not None and torch.isfinite(p.grad).all() for p in model.parameters()):  # expect: PLM068
            optimizer.step()
        largest = max(p.grad.abs().max() for p in model.parameters())  # expect: PLM068
        # trap: asked of what Python knows
        if any(p.grad is None for p in model.parameters()):
            raise RuntimeError("a parameter without a gradient")
        # trap: a flag, and a size
        frozen = all(not p.requires_grad for p in model.parameters())
        longest = max(p.numel() for p in model.parameters())
        # trap: words
        bias = any("bias" in name for name, p in model.named_parameters())
        # trap: one question for all of them
        finite = torch.stack([torch.isfinite(p.grad).all() for p in model.parameters()]).all()
        # trap: added up on the device
        square = sum(p.grad.square().sum() for p in model.parameters())
        optimizer.zero_grad()
    # trap: once
    return max(p.abs().max() for p in model.parameters())
