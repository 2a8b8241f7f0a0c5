"""Repeated for a product of matrices."""

import torch
from torch import nn


class Scores(nn.Module):
    def forward(self, query, places, keys, bias):
        batch, length, width = query.shape
        scores = torch.matmul(query, places.repeat(query.size(0), 1, 1))  # expect: PLM045
        scores = scores + query @ places.repeat(batch, 1, 1)  # expect: PLM045
        scores = scores + query.bmm(places.repeat(query.shape[0], 1, 1))  # expect: PLM045
        scores = torch.add(keys, bias.repeat(keys.size(0), 1, 1)) + scores  # expect: PLM045
        # trap: of as many columns as the product has rows to go through
        scores = scores + torch.matmul(query, places.repeat(1, query.size(1), 1))
        # trap: nothing says that they are as many
        scores = scores + torch.matmul(query, places.repeat(keys.size(0), 1, 1))
        # trap: joined, not computed with
        scores = torch.cat((query, places.repeat(query.size(0), 1, 1)), -1) + scores
        query = query.flatten(0, 1)
        # trap: of another shape by then
        return scores, torch.mul(query, bias.repeat(batch, 1))


def train(net, loader, optimizer):
    net = net.cuda()
    scores = Scores()
    for query, places, keys, bias in loader:
        out, more = scores(net(query.cuda()), places.cuda(), keys.cuda(), bias.cuda())
        loss = out.mean() + more.mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
