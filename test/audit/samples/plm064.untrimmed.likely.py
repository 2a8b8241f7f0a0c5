import torch
from torch import nn

# trap: whatever is looked at, the pictures have one size
torch.backends.cudnn.benchmark = True


def train(net, loader, optimizer, device):
    net.to(device)
    for pictures, wanted in loader:
        scores = net(pictures.to(device))
        loss = nn.functional.cross_entropy(scores, wanted.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        # trap: up to the best of the scores, which is no length
        best = scores.argmax(1).max().item()
        print(scores[:, :best].shape)
