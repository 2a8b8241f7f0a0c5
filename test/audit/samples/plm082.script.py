import torch
import torch.distributed as dist
from common import compute_init

device = compute_init()
# trap: the ranks were set up above
WEIGHTS = torch.ones(1000).cuda()
dist.all_reduce(WEIGHTS)
