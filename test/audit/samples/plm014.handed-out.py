import torch
from torch.autograd import Function

from kernels import fused


class Fused(Function):
    @staticmethod
    def forward(ctx, settings, x, slope):
        out, rows = fused(settings, x, slope)
        ctx.out = out  # expect: PLM014
        ctx.rows = rows  # trap: nothing says that it is a tensor
        ctx.slope = slope
        return out

    @staticmethod
    def backward(ctx, grad):
        return None, grad * (ctx.out > 0) * ctx.slope, None


def train(net, loader):
    net = net.cuda()
    optimizer = torch.optim.AdamW(net.parameters())
    for x, y in loader:
        optimizer.zero_grad()
        Fused.apply(None, net(x.cuda()), 0.2).sum().backward()
        optimizer.step()
