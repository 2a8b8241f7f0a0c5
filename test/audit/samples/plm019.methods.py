"""A network in eval mode that is run by a method of its own."""

import torch
from torch import nn


class Recommender(nn.Module):
    def __init__(self, items):
        super().__init__()
        self.embed = nn.Embedding(items, 64)
        self.head = nn.Linear(64, items)

    def features(self, history):
        return self.embed(history).mean(1)

    def forward(self, history):
        return self.head(self.features(history))

    def rank(self, history):
        return self.head(self.features(history)).argsort(-1)

    def about(self, history):
        return self.features(history)

    @torch.no_grad()
    def recommend(self, history):
        return self.head(self.features(history)).topk(10).indices

    def popular(self):
        return self.head.weight.norm(dim=1)

    def answer(self, history):
        return self.recommend(history)


def places(net, users):
    found = []
    for history in users:
        found.append(net.rank(history)[0].tolist())  # expect: PLM019
    return found


def described(net, users):
    return [net.about(history).detach().cpu() for history in users]  # expect: PLM019


def quiet(net, users):
    # trap: the method switches recording off
    return [net.recommend(history).tolist() for history in users]


def handed_on(net, users):
    # trap: so does the one that it leaves it to
    return [net.answer(history).tolist() for history in users]


def counted(net, users):
    # trap: runs no layer
    return [net.popular().tolist() for history in users]


def fit(net, loader, users, optimizer):
    for history, item in loader:
        nn.functional.cross_entropy(net(history), item).backward()
        optimizer.step()
        optimizer.zero_grad()
    net.eval()
    print(places(net, users), described(net, users), quiet(net, users), handed_on(net, users), counted(net, users))


def compare(net, users):
    net.eval()
    for history in users:
        print(net.rank(history)[0].tolist())  # expect: PLM019
        print(net.recommend(history).tolist())  # trap: the method switches recording off
