import torch
from torch import nn

# clean
import random

random.seed(0)
CAPACITY = 120
buffer = []
q = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 2))
opt = torch.optim.Adam(q.parameters())
for step in range(700):
    transition = (torch.randn(8), random.randrange(2), random.random(), torch.randn(8))
    if len(buffer) < CAPACITY:
        buffer.append(transition)
    else:
        buffer[step % CAPACITY] = transition
    batch = random.sample(buffer, min(len(buffer), 16))
    states = torch.stack([b[0] for b in batch])
    rewards = torch.tensor([b[2] for b in batch])
    loss = (q(states).max(1).values - rewards).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
