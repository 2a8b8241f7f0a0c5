import ray
import torch
import torch.distributed as dist


@ray.remote(num_gpus=1)
class Worker:
    def start(self, rank, world):
        dist.init_process_group("nccl", rank=rank, world_size=world)
        # trap: each actor sees one device only, its own
        self.device = torch.device("cuda:0")
