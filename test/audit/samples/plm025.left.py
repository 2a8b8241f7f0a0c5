import torch
from torch import nn
from torch.nn import functional as F


class Graph(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, 1)

    def forward(self, x):
        return self.layer(x)


class Factors(nn.Module):
    def __init__(self, users, items):
        super().__init__()
        self.users = nn.Embedding(users, 16)
        self.items = nn.Embedding(items, 16)

    def forward(self, user, item):
        return (self.users(user) * self.items(item)).sum(-1)


graph = Graph(8).cuda()
optimizer = torch.optim.Adam(graph.parameters(), fused=True)
total = 0.0
for x, y in graph_loader:
    optimizer.zero_grad()
    loss = F.mse_loss(graph(x.cuda()), y.cuda())
    loss.backward()
    optimizer.step()
    total += loss.item()  # expect: PLM025

factors = Factors(100, 1000)
optimizer = torch.optim.Adam(factors.parameters())
total = 0.0
for users, items, ratings in ratings_loader:
    optimizer.zero_grad()
    rated = factors(users, items)
    loss = F.mse_loss(rated, ratings)
    loss.backward()
    optimizer.step()
    total += loss.item()  # trap: nothing has sent this network anywhere

moved = Factors(100, 1000)
for network in (moved,):
    network.cuda()
optimizer = torch.optim.Adam(moved.parameters(), fused=True)
total = 0.0
for users, items, ratings in ratings_loader:
    optimizer.zero_grad()
    loss = F.mse_loss(moved(users.cuda(), items.cuda()), ratings.cuda())
    loss.backward()
    optimizer.step()
    total += loss.item()  # expect: PLM025
