import torch
from torch import nn

from dataclasses import dataclass, field


@dataclass
class State:
    step: int = 0
    history: list = field(default_factory=list)


def train_one(state, model, opt):
    batch = torch.randn(10, 64)
    pred = model(batch)
    loss = (pred - batch).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    state.step += 1
    state.history.append({"step": state.step, "pred": pred})  # leak


model = nn.Sequential(nn.Linear(64, 128), nn.SiLU(), nn.Linear(128, 64))
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
state = State()
while state.step < 150:
    train_one(state, model, opt)
