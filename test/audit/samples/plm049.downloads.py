import torch
import torch.distributed as dist
from torch.hub import load_state_dict_from_url
from torch.nn.parallel import DistributedDataParallel


def work(rank, world_size, net, loader, optimizer, url):
    dist.init_process_group("nccl", rank=rank, world_size=world_size)
    torch.cuda.set_device(rank)
    weights = torch.hub.load_state_dict_from_url(url)  # expect: PLM049
    net.load_state_dict(weights)
    # trap: said where to
    net.load_state_dict(torch.hub.load_state_dict_from_url(url, map_location="cpu"))
    # trap: said where to, by its place
    net.load_state_dict(load_state_dict_from_url(url, None, {"cuda:0": f"cuda:{rank}"}))
    if rank == 0:
        # trap: one process alone
        print(load_state_dict_from_url(url).keys())
    net = DistributedDataParallel(net.cuda(rank), device_ids=[rank])
    for batch in loader:
        net(batch.cuda(rank)).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def pretrained(net, url):
    # trap: a network's weights, in whichever process
    net.load_state_dict(load_state_dict_from_url(url))
    return net
