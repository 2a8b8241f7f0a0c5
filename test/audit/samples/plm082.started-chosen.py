import torch
from models import Flow
from ranks import init_distributed_mode
from torch.nn.parallel import DistributedDataParallel

if __name__ == "__main__":
    torch.cuda.set_device(int("0"))
    # trap: chosen above
    weight = torch.ones(6400).cuda()
    local_rank = init_distributed_mode()
    model = DistributedDataParallel(Flow(weight).cuda(), device_ids=[local_rank])
