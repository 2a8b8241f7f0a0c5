import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)


def capture(kept):
    def hook(module, inputs, output):
        kept["activation"] = output

    return hook


for step in range(120):
    model[1].register_forward_hook(capture({}))  # leak: line
    loss = model(torch.randn(16, 32)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
