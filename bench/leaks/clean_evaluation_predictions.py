import torch
from torch import nn

# clean
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 5))
opt = torch.optim.AdamW(model.parameters())
scores = []


def evaluate():
    predictions, labels = [], []
    model.eval()
    with torch.no_grad():
        for _ in range(12):
            predictions.append(model(torch.randn(64, 16)).argmax(-1))
            labels.append(torch.randint(0, 5, (64,)))
    model.train()
    return (torch.cat(predictions) == torch.cat(labels)).float().mean().item()


for step in range(500):
    loss = nn.functional.cross_entropy(model(torch.randn(8, 16)), torch.randint(0, 5, (8,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 25 == 24:
        scores.append(evaluate())
