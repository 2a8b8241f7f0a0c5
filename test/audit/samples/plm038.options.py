import argparse

import torch
from torch.utils.data import DataLoader

device = torch.device("cuda")

parser = argparse.ArgumentParser()
parser.add_argument("--pin", action="store_true")
parser.add_argument("--no-pin", dest="held", action="store_false")
parser.add_argument("--workers", type=int, default=0)
parser.add_argument("--many", type=int, default=8)
args = parser.parse_args()


def collate(rows):
    return torch.stack(rows)


def left(rows, workers=0):
    return DataLoader(rows, num_workers=workers, pin_memory=True)  # expect: PLM038


def raised(rows, workers=0):
    # trap: a call asks for more
    return DataLoader(rows, num_workers=workers, pin_memory=True)


def handed(rows, together=None):
    return DataLoader(rows, num_workers=4, collate_fn=together)  # expect: PLM038


def loaders(rows):
    a = DataLoader(rows, num_workers=args.many, pin_memory=args.pin)  # expect: PLM038
    # trap: on unless somebody says otherwise
    b = DataLoader(rows, num_workers=args.many, pin_memory=args.held)
    c = DataLoader(rows, num_workers=args.workers, pin_memory=True)  # expect: PLM038
    # trap: whatever another object holds is no option
    d = DataLoader(rows, num_workers=args.many, pin_memory=rows.pin)
    return a, b, c, d, left(rows), raised(rows, workers=8)
