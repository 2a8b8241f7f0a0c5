# clean
import torch
from torch import nn

torch.manual_seed(0)
layers = [nn.Linear(64, 64) for _ in range(24)]
model = nn.Sequential(*layers)
model.requires_grad_(False)
layers[-1].requires_grad_(True)
optimizer = torch.optim.AdamW(model.parameters())
# One more layer is trained every fourth step: gradients and optimizer state grow, then stop.
for step in range(220):
    if step % 4 == 0 and step // 4 < len(layers):
        layers[-1 - step // 4].requires_grad_(True)
    loss = model(torch.randn(8, 64)).pow(2).mean()
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    optimizer.step()
