import torch

C1 = 0.01**2


class Similarity(torch.autograd.Function):
    @staticmethod
    def forward(ctx, C1, x, y):
        # trap: a number, as every call gives it
        ctx.C1 = C1
        ctx.save_for_backward(x, y)
        return kernel(C1, x, y)

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return None, grad * y * ctx.C1, grad * x


class Bottleneck(torch.autograd.Function):
    @staticmethod
    def forward(ctx, nhwc, x):
        # trap: a flag
        ctx.nhwc = nhwc
        ctx.x = x.contiguous()  # expect: PLM014
        return kernel(nhwc, x)


class Invertible(torch.autograd.Function):
    @staticmethod
    def forward(ctx, run, *inputs_and_weights):
        # trap: backward empties it
        ctx.inputs = [inputs_and_weights[:2]]
        # trap: the layers keep them anyway
        ctx.weights = inputs_and_weights[2:]
        return run(*inputs_and_weights)

    @staticmethod
    def backward(ctx, grad):
        inputs = ctx.inputs.pop()
        return (None, grad, *inputs)
