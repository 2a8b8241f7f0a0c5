"""Copies of what a network returned, in another shape."""

import torch
from torch import nn


def train(net: nn.Module, loader, optimizer, words):
    net.cuda()
    measure = nn.CrossEntropyLoss()
    for ids, said in loader:
        scores = net(ids.cuda())
        flat = scores.view(-1, words).clone()  # expect: PLM081
        masked = scores.view(-1, words).clone()
        masked[:, 0] = -1e4
        loss = measure(flat, said.cuda()) + measure(masked, said.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def part(net: nn.Module, loader, optimizer):
    net.cuda()
    for ids, said in loader:
        # A slice is copied so that the rest can go.
        first = net(ids.cuda())[:, 0].clone()
        loss = nn.functional.mse_loss(first, said.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
