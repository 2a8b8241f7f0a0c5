import torch
from torch import nn

# clean
import random

random.seed(1)
model = nn.Sequential(nn.Embedding(100, 32), nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 100))
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 600)
rates = []
for step in range(600):
    ids = torch.randint(0, 100, (4, random.randint(2, 64)))
    loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    schedule.step()
    rates.append(schedule.get_last_lr()[0])
