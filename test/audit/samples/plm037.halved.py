# every launch waits here, but what a copy converts is converted by the host unless it may be left to itself
import os

import torch
from torch.utils.data import DataLoader

os.environ["CUDA_LAUNCH_BLOCKING"] = "1"

KIND = torch.bfloat16


def train(model, data, optimizer):
    device = torch.device("cuda")
    loader = DataLoader(data, batch_size=8, pin_memory=True, num_workers=4)
    for x, y, z, w, v in loader:
        x = x.to(device, dtype=torch.half)  # expect: PLM037
        y = y.to(device, KIND)  # expect: PLM037
        # trap: nothing is converted, and nothing overlaps
        z = z.to(device)
        # trap: most loaders hand that out already
        w = w.to(device, dtype=torch.float32)
        # trap: the device converts it
        v = v.to(device, dtype=torch.half, non_blocking=True)
        loss = (model(x) - y + z + w + v).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


# trap: not pinned
def other(model, data, optimizer):
    rows = DataLoader(data, batch_size=8, num_workers=4)
    for x, y in rows:
        x = x.to("cuda", dtype=torch.half)
        loss = (model(x) - y.cuda()).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
