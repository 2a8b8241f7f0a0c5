import torch


def train(loader, model, ema, optimizer, history):
    for x, y in loader:
        loss = (model(x) - y).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        history["size"] = torch.cat([p.grad.abs().view(-1) for p in model.parameters()]).norm()  # likely: PLM034
        # trap: views of them, and one kernel
        history["norm"] = torch.cat([p.grad.detach().reshape(-1) for p in model.parameters()]).norm()
        # trap: counted, and nothing computed
        total = sum(p.numel() for p in model.parameters() if p.grad is not None)
        # trap: no kernels
        for p in model.parameters():
            p.requires_grad = True
        optimizer.step()
        history["size"] = total
