import os
import time

import torch

os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # expect: PLM030
# trap: off
os.environ["CUDA_LAUNCH_BLOCKING"] = "0"
if os.environ.get("DEBUG"):
    # trap: asked for
    os.environ["CUDA_LAUNCH_BLOCKING"] = "1"


def train(model, loader, optimizer):
    for x in loader:
        model(x).sum().backward()
        torch.cuda.synchronize()  # expect: PLM030
        optimizer.step()
    # trap: once, at the end
    torch.cuda.synchronize()


def benchmark(model, loader, optimizer):
    for x in loader:
        start = time.perf_counter()
        model(x).sum().backward()
        # trap: to measure is what it is for
        torch.cuda.synchronize()
        print(time.perf_counter() - start)
        optimizer.step()


def measure(model, loader, optimizer):
    for x in loader:
        start = time.perf_counter()
        model(x).sum().backward()
        torch.cuda.synchronize()  # expect: PLM030
        print(time.perf_counter() - start)
        optimizer.step()


def after_reads(model, loader, optimizer, meter):
    for x in loader:
        loss = model(x.cuda()).sum()
        loss.backward()
        optimizer.step()
        value = loss.item()
        meter.update(value, x.size(0))
        if torch.cuda.is_available():
            # trap: the read above has waited for everything (a note)
            torch.cuda.synchronize()  # expect: PLM030


def synchronize(device):
    # trap: called where another process reads what was computed (a note)
    torch.cuda.synchronize(device)  # expect: PLM030


def share(model, loader, optimizer, queue):
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
        synchronize("cuda")
        queue.put(model.state_dict())
