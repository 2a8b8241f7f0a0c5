import argparse
import os

import torch
from torch.nn.parallel import DistributedDataParallel
from transformers import AutoModelForCausalLM, BitsAndBytesConfig

parser = argparse.ArgumentParser()
parser.add_argument("--quant-type", default="fp4", choices=["fp4", "nf4"])
parser.add_argument("--better-type", default="nf4", choices=["fp4", "nf4"])
parser.add_argument("--compute", default="float32")
parser.add_argument("--narrow", default="bfloat16")
parser.add_argument("--spread", default=None)
args = parser.parse_args()

by_option = BitsAndBytesConfig(
    load_in_4bit=True,
    bnb_4bit_compute_dtype=torch.bfloat16,
    bnb_4bit_quant_type=args.quant_type,  # expect: PLM063
)
wide = BitsAndBytesConfig(
    load_in_4bit=True,
    bnb_4bit_compute_dtype=getattr(torch, args.compute),  # expect: PLM063
    bnb_4bit_quant_type="nf4",
)
by_name = getattr(torch, args.compute)
wide_by_name = BitsAndBytesConfig(
    load_in_4bit=True,
    bnb_4bit_compute_dtype=by_name,  # expect: PLM063
    bnb_4bit_quant_type="nf4",
)
# trap: as it should be, unless somebody says otherwise
well_set = BitsAndBytesConfig(
    load_in_4bit=True,
    bnb_4bit_compute_dtype=getattr(torch, args.narrow),
    bnb_4bit_quant_type=args.better_type,
)


def told(kind):
    # trap: whoever calls it says
    return BitsAndBytesConfig(
        load_in_4bit=True, bnb_4bit_compute_dtype=torch.bfloat16, bnb_4bit_quant_type=kind
    )


def spread(name):
    settings = {"torch_dtype": torch.bfloat16, "device_map": "auto"}  # expect: PLM063
    return DistributedDataParallel(AutoModelForCausalLM.from_pretrained(name, **settings))


def alone(name, world_size):
    settings = {"torch_dtype": torch.bfloat16}
    if world_size == 1:
        # trap: of one process
        settings["device_map"] = "auto"
    return AutoModelForCausalLM.from_pretrained(name, **settings)


def own(name):
    # trap: each rank has its own
    settings = {"device_map": {"": int(os.environ["LOCAL_RANK"])}}
    return DistributedDataParallel(AutoModelForCausalLM.from_pretrained(name, **settings))


def unsaid(name):
    # trap: not spread unless somebody asks for it
    return AutoModelForCausalLM.from_pretrained(name, device_map=args.spread)
