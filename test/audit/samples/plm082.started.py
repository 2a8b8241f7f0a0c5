"""CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node=2 train.py"""

import os

import torch
import torch.distributed as dist


def begin():
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))


def build(model):
    return model.to("cuda:0")  # expect: PLM082


def counted(model):
    return model.cuda(0)  # expect: PLM082


def shown(model):
    # trap: of the first rank alone
    return model.cuda(0)


def alone(model):
    # trap: nobody is seen calling it
    return model.cuda(0)


def main(model):
    begin()
    if dist.get_rank() == 0:
        shown(model)
    return build(model), counted(model)
