import torch


def train(model, optimizer, pool, loader):
    with pool:
        for param in model.parameters():
            param.grad = torch.empty_like(param)
    for x in loader:
        # trap: the gradients were put where they must stay
        optimizer.zero_grad(set_to_none=False)
        model(x).sum().backward()
        optimizer.step()
