"""Ways to say whether cuDNN is to search."""

import argparse

import torch
import torch.backends.cudnn as cudnn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("--search", type=bool, default=True)
parser.add_argument("--steady", type=bool, default=False)
parser.add_argument("--device", default="cuda")


def prepare(config, device):
    args = parser.parse_args()
    torch.backends.cudnn.benchmark = torch.cuda.is_available()  # expect: PLM064
    torch.backends.cudnn.benchmark = bool(args.search)  # expect: PLM064
    torch.backends.cudnn.benchmark = config.get("search_kernels", True)  # expect: PLM064
    torch.backends.cudnn.benchmark = getattr(args, "search_kernels", True)  # expect: PLM064
    torch.backends.cudnn.benchmark = device.type == "cuda"  # expect: PLM064
    torch.backends.cudnn.benchmark = args.device != "cpu" and args.search  # expect: PLM064
    torch.backends.cudnn.benchmark = True if args.search else False  # expect: PLM064
    cudnn.enabled = cudnn.benchmark = True  # expect: PLM064
    setattr(cudnn, "benchmark", True)  # expect: PLM064
    # trap: off unless somebody asks for it
    torch.backends.cudnn.benchmark = args.steady
    torch.backends.cudnn.benchmark = args.steady and torch.cuda.is_available()
    torch.backends.cudnn.benchmark = config.get("search_kernels", False)
    torch.backends.cudnn.benchmark = False if args.search else True
    setattr(cudnn, "benchmark", False)
    # trap: nothing is known of it
    torch.backends.cudnn.benchmark = config.wanted
    torch.backends.cudnn.benchmark = config["wanted"]
    torch.backends.cudnn.benchmark = device.index == 0
    # trap: another setting
    setattr(cudnn, "enabled", True)
    cudnn.enabled = cudnn.allow_tf32 = True


def batches(waves):
    return DataLoader(waves, batch_size=8, collate_fn=pad_sequence, num_workers=4, pin_memory=True)
