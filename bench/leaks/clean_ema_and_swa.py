import torch
from torch import nn

# clean
import copy

model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8))
ema = copy.deepcopy(model)
swa = torch.optim.swa_utils.AveragedModel(model)
opt = torch.optim.AdamW(model.parameters())
for step in range(400):
    model(torch.randn(16, 32)).pow(2).mean().backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    opt.zero_grad()
    with torch.no_grad():
        for a, b in zip(ema.parameters(), model.parameters()):
            a.mul_(0.99).add_(b, alpha=0.01)
    if step > 200 and step % 10 == 0:
        swa.update_parameters(model)
