# clean
import torch
from torch import nn

torch.manual_seed(0)
maker, judge = nn.Linear(16, 32), nn.Linear(32, 1)
first = torch.optim.Adam(judge.parameters())
second = torch.optim.Adam(maker.parameters())
for step in range(200):
    first.zero_grad()
    judge(maker(torch.randn(8, 16)).detach()).mean().backward()
    first.step()
    second.zero_grad()
    (-judge(maker(torch.randn(8, 16))).mean()).backward()
    second.step()
