import torch
import torch.nn.functional as F


def train(model, loader, optimizer):
    weights = torch.tensor([1, 2]).to(torch.float32)
    for x, y in loader:
        loss = F.cross_entropy(model(x), y, weight=weights)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        # trap: nothing here leaves the host; a cast is no move
        print(f"loss {loss:.2f}")
