import torch

device = torch.device("cuda")


def train(model, loader, optimizer):
    for x in loader:
        ones = torch.ones(1, device=device).repeat(x.shape[0])  # expect: PLM045
        # trap: more than one
        cycle = torch.ones(4, device=device).repeat(x.shape[0])
        loss = (model(x) * ones).mean() + cycle.mean()
        loss.backward()
        optimizer.step()
