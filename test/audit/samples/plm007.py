import torch.nn.functional as F


def train(model, loader, optimizer):
    step = 0
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward(retain_graph=True)  # expect: PLM007
        optimizer.step()
        step += 1
