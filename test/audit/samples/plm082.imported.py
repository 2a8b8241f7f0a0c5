import torch
import torch.distributed as dist

WEIGHTS = torch.ones(1000).cuda()  # expect: PLM082
# trap: on the host
TABLE = torch.ones(1000)


def reduce(loss):
    dist.all_reduce(loss)
    # trap: by then the rank has chosen
    return loss * WEIGHTS.sum() + torch.ones(1).cuda()
