import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Voice(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)

    def forward(self, x):
        return self.body(x)

    def infer(self, x, scale=1.0):
        return self.forward(x * scale)

    @torch.no_grad()
    def synthesize(self, x):
        return self.forward(x)


def listen(net, loader):
    net.eval()
    kept = 0
    for x in loader:
        kept += net.module.infer(x.cuda(), scale=0.5).abs().mean().item()  # likely: PLM019
    net.train()
    return kept


def listen_quietly(net, loader):
    net.eval()
    kept = 0
    for x in loader:
        # trap: the method records nothing itself
        kept += net.module.synthesize(x.cuda()).abs().mean().item()
    net.train()
    return kept


def train(loader):
    net = DistributedDataParallel(Voice().cuda())
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for x in loader:
        loss = net(x.cuda()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return listen(net, loader), listen_quietly(net, loader)
