import argparse

import torch
from models import Flow
from ranks import init_distributed_mode
from torch.nn.parallel import DistributedDataParallel

if __name__ == "__main__":
    args = argparse.ArgumentParser().parse_args()
    weight = torch.ones(6400).cuda()  # expect: PLM082
    local_rank = init_distributed_mode()
    # trap: the rank has chosen by now
    bias = torch.zeros(6400).cuda()
    model = DistributedDataParallel(Flow(args, weight, bias).cuda(), device_ids=[local_rank])
