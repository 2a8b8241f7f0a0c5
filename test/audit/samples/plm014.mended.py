import torch


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x  # expect: PLM014
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return 2 * ctx.x * grad


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        result = torch.mul(a, b)
        ctx.a = a  # expect: PLM014
        ctx.result = result  # expect: PLM014
        return result

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.result, grad * ctx.a
