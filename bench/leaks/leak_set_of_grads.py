import torch
from torch import nn

grads = set()
layer = nn.Linear(128, 16)
opt = torch.optim.SGD(layer.parameters(), lr=0.1)


def loop():
    for i in range(140):
        out = layer(torch.randn(4, 128))
        out.pow(2).mean().backward()
        opt.step()
        grads.add(layer.weight.grad)  # leak
        layer.weight.grad = None
        layer.bias.grad = None


loop()
