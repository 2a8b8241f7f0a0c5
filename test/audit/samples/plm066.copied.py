import torch
import torch.nn.functional as F


def train(net, loader):
    # trap: what is averaged from the rest is in no graph
    learned = [weight for name, weight in net.named_parameters() if "teacher" not in name]
    optimizer = torch.optim.SGD(learned, lr=0.1)
    for x, y in loader:
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
