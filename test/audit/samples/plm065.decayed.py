import torch
import torch.nn.functional as F


def train(net, loader, batch_size, weight_decay, epoch):
    accumulate = max(round(64 / batch_size), 1)
    weight_decay *= batch_size * accumulate / 64
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, weight_decay=weight_decay)
    last = -1
    for i, (x, y) in enumerate(loader):
        seen = i + len(loader) * epoch
        loss = F.cross_entropy(net(x), y) * len(x)
        # trap: the decay is made to fit sums
        loss.backward()
        if seen - last >= accumulate:
            optimizer.step()
            optimizer.zero_grad()
            last = seen
