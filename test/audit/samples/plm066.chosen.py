import torch
import torch.nn.functional as F


def train(net, loader):
    optimizer = torch.optim.SGD(
        [weight for name, weight in net.named_parameters() if "trunk" not in name],  # expect: PLM066
        lr=0.1,
    )
    for x, y in loader:
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
