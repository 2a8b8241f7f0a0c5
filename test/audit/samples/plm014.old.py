import torch
from torch.autograd import Function


class Bottleneck(Function):
    def forward(self, weight, *inputs):
        # trap: a function of old, which torch does not run any more
        self.inputs = inputs
        return weight * inputs[0]

    def backward(self, grad):
        return grad, self.inputs[0]


class Scale(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x  # expect: PLM014
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.x
