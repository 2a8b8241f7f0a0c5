from collections import deque

import torch
import torch.nn.functional as F


def advance(net, optimizer, images, labels, recent):
    scores = net(images)
    loss = F.cross_entropy(scores, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    recent.append(scores)  # expect: PLM017
    return torch.cat(list(recent)).std().item()


def epoch(net, loader, optimizer, device):
    net.to(device)
    recent = deque(maxlen=64)
    for images, labels in loader:
        advance(net, optimizer, images.to(device), labels.to(device), recent)


def cut_off(net, optimizer, images, labels, recent):
    scores = net(images)
    loss = F.cross_entropy(scores, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    recent.append(scores.detach())  # trap: no graph comes with it


def epoch_cut_off(net, loader, optimizer, device):
    net.to(device)
    recent = deque(maxlen=64)
    for images, labels in loader:
        cut_off(net, optimizer, images.to(device), labels.to(device), recent)
