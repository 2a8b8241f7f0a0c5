"""What a module was handed and calls: a layer, and what is none."""

import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self, body, tokenizer, matcher):
        super().__init__()
        self.body = body
        self.tokenizer = tokenizer
        self.matcher = matcher

    def forward(self, texts, x):
        ids = self.tokenizer(texts)
        # trap: a tokenizer's ids are on the host
        if (ids > 9).any():
            raise ValueError
        x = self.body(x)
        # trap: what a matcher hands back are indices, found on the host
        if self.matcher(x)[0] > 3:
            raise ValueError
        if torch.isnan(x).any():  # expect: PLM027
            raise ValueError
        return x


def train(loader, body, tokenizer, matcher):
    net = Reader(body, tokenizer, matcher).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for texts, x, y in loader:
        optimizer.zero_grad()
        loss = (net(texts, x.cuda()) - y.cuda()).square().mean()
        loss.backward()
        optimizer.step()
