"""A device map that names the first device, in a program that is started once for each rank."""

import os

import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from transformers import AutoModelForCausalLM

LATENTS = torch.randn(64, 512).cuda()  # expect: PLM082

rank = int(os.environ.get("LOCAL_RANK", 0))


def wrap(name):
    model = AutoModelForCausalLM.from_pretrained(name, device_map={"": 0})  # expect: PLM082
    return DDP(model, device_ids=[rank])


def by_rank(name, distributed):
    device_map = {"": 0}  # trap: of the single process
    if distributed:
        device_map = {"": rank}
    return AutoModelForCausalLM.from_pretrained(name, device_map=device_map)


def spread(name):
    return AutoModelForCausalLM.from_pretrained(name, device_map={"encoder": 0, "decoder": 1})  # trap: two devices
