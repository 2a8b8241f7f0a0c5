import torch
from torch import nn

# clean
model = nn.Sequential(nn.Linear(32, 128), nn.GELU(), nn.Linear(128, 32))
opt = torch.optim.AdamW(model.parameters())
for update in range(250):
    running = torch.zeros(())
    outputs = []
    for micro in range(1 + update % 4):
        out = model(torch.randn(4 + (update * 5 + micro) % 20, 32))
        outputs.append(out)
        loss = out.pow(2).mean() / (1 + update % 4)
        loss.backward()
        running += loss.detach()
    opt.step()
    opt.zero_grad()
