import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


class Loop:
    def __init__(self, net):
        dist.init_process_group("nccl")
        self.rank = int(os.environ["LOCAL_RANK"])
        self.net = DistributedDataParallel(net.to("cuda"))  # expect: PLM082

    def resume(self, path):
        # Where the file is read to says nothing of where the network is.
        state = torch.load(path, map_location=f"cuda:{self.rank}")
        self.net.module.load_state_dict(state)

    def run(self, loader, optimizer):
        for x, y in loader:
            x, y = x.to("cuda", non_blocking=True), y.to("cuda", dtype=torch.long)
            loss = torch.nn.functional.cross_entropy(self.net(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        if self.rank == 0:
            print("done")
