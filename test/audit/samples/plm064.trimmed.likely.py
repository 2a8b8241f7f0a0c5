import torch
from torch import nn

torch.backends.cudnn.benchmark = True  # likely: PLM064


def train(net, loader, optimizer, device):
    net.to(device)
    for sounds, lengths, wanted in loader:
        longest = lengths.max().item()
        sounds = sounds[:, :, :longest].to(device)
        loss = nn.functional.cross_entropy(net(sounds), wanted.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
