import torch
from torch import nn

# clean
# Each new shape makes a plan and a buffer of its own, as cuDNN's benchmark mode does; there are sixteen of them.
plans = {}
conv = nn.Conv1d(4, 8, 3, padding=1)
opt = torch.optim.SGD(conv.parameters(), lr=0.01)
for step in range(500):
    length = 16 + 8 * min(15, int(abs(torch.randn(()).item()) * 6))
    if length not in plans:
        plans[length] = torch.zeros(8, length, 32)
    y = conv(torch.randn(2, 4, length)) + plans[length].sum(-1)
    opt.zero_grad()
    y.pow(2).mean().backward()
    opt.step()
