# Wrapped to look at what was trained: no gradients are gathered.
import sys

import torch
from torch import nn


def test(args, loader):
    model = Net(args).cuda()
    model = nn.DataParallel(model)  # expect: PLM060
    model.load_state_dict(torch.load(args.path, map_location="cpu"))
    model = model.eval()
    with torch.no_grad():
        return [model(x.cuda()).argmax(-1).cpu() for x in loader]


def train(args, loader):
    model = nn.DataParallel(Net(args).cuda())  # expect: PLM060
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x.cuda()), y.cuda()).backward()
        optimizer.step()
