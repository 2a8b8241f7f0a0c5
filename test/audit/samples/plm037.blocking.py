# trap: every launch waits here, so that nothing could overlap with the copies
import os

import torch
from torch.utils.data import DataLoader

os.environ["CUDA_LAUNCH_BLOCKING"] = "1"


def train(model, data, optimizer):
    loader = DataLoader(data, batch_size=8, pin_memory=True, num_workers=4)
    for x, y in loader:
        x, y = x.cuda(), y.cuda()
        loss = (model(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
