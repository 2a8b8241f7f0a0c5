import torch
from torch import nn

class Recorder:
    def __init__(self, module):
        self.seen = []
        module.register_forward_hook(self.keep)

    def keep(self, module, inputs, output):
        self.seen.append(output)  # leak


net = nn.Sequential(nn.Linear(32, 96), nn.ReLU(), nn.Linear(96, 8))
recorder = Recorder(net[0])
optimizer = torch.optim.AdamW(net.parameters())


def main():
    for step in range(140):
        y = net(torch.randn(8 + step % 5, 32))
        y.mean().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


main()
