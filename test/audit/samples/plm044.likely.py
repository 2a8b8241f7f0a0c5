import torch
from torch import nn


class Mixer(nn.Module):
    def scores(self, queries, keys):
        return torch.matmul(queries, keys) * 0.125

    def forward(self, x, bias):
        queries, keys, values = x.chunk(3, dim=-1)
        keys = keys.transpose(1, 2)
        weights = (self.scores(queries, keys) + bias).softmax(-1)  # likely: PLM044
        # trap: of what a layer gave, and into no product
        chances = self.head(values).softmax(-1)
        # trap: a row of experts, which are few
        chosen = torch.softmax(values @ self.experts, dim=-1)
        return torch.bmm(weights, values) + chosen @ self.kinds + chances


def mask_of(length, device):
    return torch.tril(torch.ones(length, length, device=device))


def forward_step(net, tokens):
    length = tokens.size(1)
    mask = torch.tril(torch.ones(length, length)).cuda()  # likely: PLM044
    if net.mask is None or net.mask.size(0) < length:
        # trap: once for each length
        net.mask = torch.tril(torch.ones(length, length)).cuda()
    loss = net(tokens, mask).mean()
    loss.backward()


class Differential(nn.Module):
    def forward(self, x, share):
        queries, keys, values = x.chunk(3, dim=-1)
        mine, others = queries.chunk(2, dim=-1)
        first = (mine @ keys.transpose(-1, -2)) * self.scale
        second = (others @ keys.transpose(-1, -2)) * self.scale
        # trap: of two attentions, which no call computes
        near = torch.softmax(first, dim=-1)
        far = torch.softmax(second, dim=-1)
        return (near - share * far) @ values
