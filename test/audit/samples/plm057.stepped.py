import torch
from torch.distributed.fsdp import CPUOffload

device = torch.device("cuda")


def main(model):
    # trap: stepped on the host
    return torch.optim.AdamW(model.parameters(), lr=1e-4), CPUOffload(offload_params=True)
