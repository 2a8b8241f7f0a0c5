import torch
import torch.distributed as dist


def main(model, rank):
    dist.init_process_group("nccl")
    # trap: chosen
    torch.cuda.set_device(rank)
    return model.cuda()
