import torch
import torch.distributed as dist


def judge(net):
    return net.eval().cuda()  # expect: PLM082


def reader(net):
    # trap: called when the rank has chosen
    return net.eval().cuda()


def worker(rank, net):
    dist.init_process_group("nccl", rank=rank)
    critic = judge(net)
    torch.cuda.set_device(rank)
    return critic, reader(net)
