import torch
from torch import nn

# clean
import logging

logging.getLogger().addHandler(logging.NullHandler())
model = nn.GRU(12, 24, batch_first=True)
opt = torch.optim.AdamW(model.parameters())
curve = []
best = None
for step in range(450):
    length = 4 + step // 50 * 4
    out, _ = model(torch.randn(4, length, 12))
    loss = out.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    curve.append((step, loss.item()))
    logging.info("step %d loss %.3f", step, loss.item())
    if best is None or loss.item() < best[0]:
        best = (loss.item(), {k: v.clone() for k, v in model.state_dict().items()})
