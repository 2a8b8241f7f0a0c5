import torch
import torch.distributed as dist
import torchvision.models as models
from torch.nn.parallel import DistributedDataParallel


def main_worker(local_rank, count, args):
    dist.init_process_group("nccl", world_size=count, rank=local_rank)
    if args.pretrained:
        model = models.__dict__[args.arch](pretrained=True).cuda()  # expect: PLM082
    else:
        model = models.__dict__[args.arch]().cuda()  # expect: PLM082
    if args.resume:
        # trap: only where somebody resumes, and on the host
        model.load_state_dict(torch.load(args.resume, map_location="cpu"))
    torch.cuda.set_device(local_rank)
    if args.channels_last:
        # trap: the rank has chosen
        model = model.cuda()
    else:
        # trap: likewise
        model = model.cuda()
    return DistributedDataParallel(model, device_ids=[local_rank])
