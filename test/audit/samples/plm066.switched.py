import torch
import torch.nn.functional as F


def train(net, loader):
    for name, weight in net.named_parameters():
        weight.requires_grad = "head" in name
    # trap: the rest has been switched off
    head = [weight for name, weight in net.named_parameters() if "head" in name]
    optimizer = torch.optim.SGD(head, lr=0.1)
    for x, y in loader:
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
