import torch.nn.functional as F


def recurrent(model, loader, optimizer):
    hidden = None
    for x, y in loader:
        out, hidden = model(x, hidden)
        loss = F.cross_entropy(out, y)
        # trap: the carried state still belongs to the old graph
        loss.backward(retain_graph=True)
        optimizer.step()
