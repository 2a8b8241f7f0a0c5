import torch


class Checkpoint(torch.autograd.Function):
    @staticmethod
    def forward(ctx, function, length, *args):
        ctx.function = function
        # trap: deleted by backward
        ctx.input_tensors = list(args[:length])
        with torch.no_grad():
            return ctx.function(*ctx.input_tensors)

    @staticmethod
    def backward(ctx, *grads):
        inputs = [x.detach().requires_grad_(True) for x in ctx.input_tensors]
        with torch.enable_grad():
            outputs = ctx.function(*inputs)
        found = torch.autograd.grad(outputs, inputs, grads)
        del ctx.input_tensors
        return (None, None) + found


class Mixed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, run, keys, *args):
        # trap: says itself that they are none
        ctx.input_non_tensors = {key: value for key, value in zip(keys, list(args[2:]))}
        return run(**ctx.input_non_tensors)

    @staticmethod
    def backward(ctx, grad):
        return None, None, grad
