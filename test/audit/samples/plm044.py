import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def forward(self, q, k, v, mask):
        scores = q @ k.transpose(-2, -1) / 8
        scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)  # expect: PLM044
        return weights @ v


class Head(nn.Module):
    def forward(self, x, w):
        # trap: a classifier
        return F.softmax(x @ w, dim=-1)


class Contrast(nn.Module):
    def forward(self, a, b):
        # trap: no values follow
        return torch.softmax(a @ b.transpose(0, 1), dim=-1).sum()


def once(q, k, v):
    # trap: nobody knows that it trains
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)
    return weights @ v


class Apart(nn.Module):
    def weigh(self, q, k):
        return F.softmax(q @ k.transpose(-2, -1), dim=-1)  # expect: PLM044

    def adjacency(self, q, k):
        # trap: a graph is made of it, not the sum of values
        return F.softmax(q @ k.transpose(-2, -1), dim=-1)

    def forward(self, q, k, v):
        graph = torch.sigmoid(self.adjacency(q, k))
        return self.weigh(q, k) @ v, graph @ torch.diag(graph.sum(1))


class Turned(nn.Module):
    def forward(self, q, k, v):
        q = q.permute(0, 2, 1)
        weights = torch.softmax(torch.bmm(q * 0.125, k), dim=-1)  # expect: PLM044
        # trap: a distribution over the pairs that no values are summed by
        shares = torch.softmax(torch.bmm(q / 8, k), dim=-1)
        return torch.bmm(v, weights.permute(0, 2, 1)), shares.amax(-1)
