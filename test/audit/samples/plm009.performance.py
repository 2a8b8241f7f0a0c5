"""Scores of a vocabulary, handed to what tells the loss and how many were right."""

import torch
from torch import nn
from torch.nn import functional as F


def performance(scores, words):
    loss = F.cross_entropy(scores, words)
    return loss, (scores.argmax(-1) == words).sum().item()


def train(net, loader, optimizer, vocab):
    right = 0
    for text, words in loader:
        scores = net(text.cuda(), vocab)  # expect: PLM009
        loss, found = performance(scores, words.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        right += found
    return right


def watched(net, loader, optimizer, vocab):
    for text, words in loader:
        scores = net(text.cuda(), vocab)  # expect: PLM009
        loss = F.cross_entropy(scores.transpose(1, 2), words.cuda())
        chances = torch.softmax(scores.detach().float(), dim=-1)  # expect: PLM009
        spread = torch.special.entr(chances).sum(dim=-1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        watch(spread)


def kept(net, loader, optimizer, vocab):
    for text, words in loader:
        scores = net(text.cuda(), vocab)
        # trap: what is told is no loss that is differentiated
        figures, found = performance(scores, words.cuda())
        loss = scores.mean()
        remember(scores)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        watch(figures, found)
