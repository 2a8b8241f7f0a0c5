"""Started by: CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node=2 train.py"""

import os

import torch
import torch.distributed as dist

os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["LOCAL_RANK"]


def main(model):
    dist.init_process_group("nccl")
    # trap: each rank sees one device only, its own
    return model.to("cuda:0"), torch.zeros(8).cuda(0)
