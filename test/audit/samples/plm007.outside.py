import torch.nn.functional as F


def many_times(model, x, y, optimizer):
    loss = F.cross_entropy(model(x), y)
    for _ in range(3):
        # trap: the same graph again and again
        loss.backward(retain_graph=True)
        optimizer.step()
