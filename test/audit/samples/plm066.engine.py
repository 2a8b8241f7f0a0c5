import deepspeed
import torch
from torch import nn


def train(net, loader, criterion, device):
    model_engine, optimizer, _, _ = deepspeed.initialize(model=net, config="ds.json")
    critic = nn.Linear(64, 1).to(device)
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-4)
    for x, y in loader:
        outputs = model_engine(x)
        loss = criterion(outputs, y) - critic(outputs).mean()  # expect: PLM066
        model_engine.backward(loss)
        model_engine.step()
        critic_optimizer.zero_grad()
        # trap: its own
        d_loss = critic(outputs.detach()).mean()
        d_loss.backward()
        critic_optimizer.step()
    return optimizer
