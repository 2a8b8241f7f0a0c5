import torch
from torch.autograd import Function


class Scale(Function):
    @staticmethod
    def forward(ctx, x, weight, factor):
        ctx.x = x  # expect: PLM014
        y = torch.exp(weight)
        ctx.y = y  # expect: PLM014
        # trap: a number, as far as anyone knows
        ctx.factor = factor
        # trap: no tensor
        ctx.shape = x.shape
        # trap: saved
        ctx.save_for_backward(weight)
        return x.view(-1) * factor

    @staticmethod
    def backward(ctx, grad):
        # trap: not the forward
        ctx.grad = grad
        return grad * ctx.factor, None, None


class Context:
    def forward(self, x):
        # trap: no autograd function
        self.x = torch.exp(x)


class Kernel(torch.autograd.Function):
    @staticmethod
    def forward(ctx, B, T, w):
        # trap: a size, not a tensor
        ctx.B = B
        ctx.save_for_backward(w)
        return w * T

    @staticmethod
    def backward(ctx, grad):
        return None, None, grad * ctx.B


class Checkpoint(torch.autograd.Function):
    @staticmethod
    def forward(ctx, run_function, x):
        # trap: whether there is one
        ctx.has_input = x is not None
        # trap: a function to call
        ctx.run_function = run_function
        ctx.save_for_backward(x)
        return run_function(x)

    @staticmethod
    def backward(ctx, grad):
        return None, grad


class Exchange(torch.autograd.Function):
    @staticmethod
    def forward(ctx, from_rank, tensor):
        # trap: a rank
        ctx.from_rank = from_rank
        return tensor.clone()

    @staticmethod
    def backward(ctx, grad):
        return None, grad


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, gate_weight, up_weight, attn_weight):
        ctx.save_for_backward(x)
        # trap: the layer keeps them anyway
        ctx.weights = (gate_weight, up_weight)
        ctx.attn = attn_weight  # expect: PLM014
        return (x @ gate_weight) * (x @ up_weight) * attn_weight.softmax(-1)

    @staticmethod
    def backward(ctx, grad):
        return grad, None, None, None
