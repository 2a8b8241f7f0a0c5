import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

callbacks = []


def later(features):
    def report():
        return features.norm()

    return report


for step in range(120):
    features = model[0](torch.randn(16, 32))
    loss = model[2](features.relu()).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    callbacks.append(later(features))  # leak: line
