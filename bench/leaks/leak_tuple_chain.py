import torch
from torch import nn

net = nn.Linear(50, 50)
opt = torch.optim.SGD(net.parameters(), lr=0.001)
log = None
for epoch in range(3):
    for step in range(60):
        y = net(torch.randn(6, 50))
        y.sum().backward()
        opt.step()
        opt.zero_grad()
        log = (y, log)  # leak
