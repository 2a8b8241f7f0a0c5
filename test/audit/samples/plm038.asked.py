import argparse

import torch
from torch.utils.data import DataLoader

device = torch.device("cuda")

parser = argparse.ArgumentParser()
parser.add_argument("--pin", action="store_true")
args = parser.parse_args()
PIN = False


def loaders(rows):
    # Whoever gives the option would give it for nothing.
    a = DataLoader(rows, num_workers=4, pin_memory=args.pin)  # expect: PLM038, by hand
    b = DataLoader(rows, num_workers=4, pin_memory=PIN)  # expect: PLM038, by hand
    c = DataLoader(rows, num_workers=4, pin_memory=False)  # expect: PLM038
    # trap: pinned
    d = DataLoader(rows, num_workers=4, pin_memory=True)
    return a, b, c, d
