import torch
from torch import nn

GRIDS = {}
EDGES = {}
PAIRS = {}
SIZES = {}


def grid(flow):
    key = (str(flow.device), str(flow.size()))
    if key not in GRIDS:  # expect: PLM078
        made = torch.linspace(-1, 1, flow.shape[3], device=flow.device)
        GRIDS[str(flow.size())] = made
    else:
        made = GRIDS[key]
    return made


def edges(flow):
    if (flow.shape[2], flow.shape[3]) not in EDGES:  # expect: PLM078
        made = torch.linspace(-1, 1, flow.shape[3], device=flow.device)
        EDGES[flow.shape[2], flow.shape[3], str(flow.device)] = made
        return made
    return EDGES[flow.shape[2], flow.shape[3]]


def pairs(flow):
    key = (flow.shape[2], flow.shape[3])
    # trap: the same pair, under its own name
    if key not in PAIRS:
        PAIRS[flow.shape[2], flow.shape[3]] = torch.linspace(-1, 1, flow.shape[3], device=flow.device)
    return PAIRS[key]


def sizes(flow):
    key = (flow.shape[2], flow.shape[3])
    # trap: of what kind this is nobody says, and it may be such a pair
    if key not in SIZES:
        SIZES[flow.shape[2:]] = torch.linspace(-1, 1, flow.shape[3], device=flow.device)
    return SIZES[key]


def train(net, loader, optimizer):
    for flow in loader:
        loss = net(flow + grid(flow) + edges(flow) + pairs(flow) + sizes(flow)).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
