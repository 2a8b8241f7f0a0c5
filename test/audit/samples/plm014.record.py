import torch.distributed as dist
from torch.autograd import Function


class Exchange(Function):
    @staticmethod
    def forward(ctx, exchange_info, *inputs):
        exchange_info.lengths = [one.size(0) for one in inputs]
        # trap: a record of sizes
        ctx.exchange_info = exchange_info
        return inputs

    @staticmethod
    def backward(ctx, *grads):
        dist.barrier()
        return (None, *grads)
