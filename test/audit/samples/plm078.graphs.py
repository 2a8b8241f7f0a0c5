import torch
from torch import nn


class Convolution(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width, width))

    def forward(self, nodes, adj):
        count = nodes.shape[0]
        adj = adj + torch.eye(count, device=nodes.device)  # expect: PLM078
        return adj @ nodes @ self.weight


class Normalized(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Linear(width, width)

    def forward(self, nodes, adjacency):
        own = torch.eye(adjacency.size(0)).to(adjacency.device)  # expect: PLM078
        adjacency = own + adjacency
        degree = adjacency.sum(-1).rsqrt()
        return self.body(degree[:, None] * adjacency * degree @ nodes)


class Learnt(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Linear(width, width)

    def forward(self, nodes, mask):
        adj = torch.softmax(nodes @ nodes.t(), -1)
        # trap: of a graph that this forward makes, it depends on the nodes
        adj = adj + torch.eye(nodes.shape[0], device=nodes.device)
        # trap: no graph, and a part of the identity
        cov = mask + 1e-3 * torch.eye(nodes.shape[0], device=nodes.device)
        return self.body(adj @ nodes) @ cov


def load(path):
    adj = torch.load(path, map_location="cpu")
    # trap: once, where it is read
    return adj + torch.eye(adj.shape[0])


def train(net, nodes, adj, wanted, optimizer):
    for _ in range(100):
        loss = (net(nodes, adj) - wanted).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
