import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, optimizer):
    rank = int(os.environ["LOCAL_RANK"])
    device = torch.device(f"cuda:{rank}")
    # trap: on the rank's own device
    model = DistributedDataParallel(model.to(device), device_ids=[rank])
    for x in loader:
        loss = model(x.to(device)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    dist.init_process_group("nccl")
    net = torch.nn.Linear(8, 8).cuda()  # expect: PLM082
    train(net, [], torch.optim.SGD(net.parameters(), lr=0.1, fused=True))
