import argparse

import torch
from torch.utils.data import DataLoader

from batches import sent_batch, joined

parser = argparse.ArgumentParser()
parser.add_argument("--workers", default=0, type=int)
args = parser.parse_args()
net = torch.nn.Linear(4, 4).cuda()


def loaders(rows, pin):
    a = DataLoader(rows, batch_size=8, num_workers=4, collate_fn=joined)  # likely: PLM038
    b = DataLoader(rows, batch_size=8, num_workers=4, pin_memory=True, collate_fn=joined)
    # trap: a device is handed to it
    c = DataLoader(rows, batch_size=8, num_workers=4, collate_fn=sent_batch(device=net.weight.device))
    # trap: pinned, with workers
    d = DataLoader(rows, batch_size=8, num_workers=2, pin_memory=True)
    e = DataLoader(rows, batch_size=8, num_workers=args.workers, pin_memory=pin)  # likely: PLM038
    return a, b, c, d, e
