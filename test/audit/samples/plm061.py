from contextlib import nullcontext
from functools import partial

import torch


def train(model, loader, optimizer, use_fp16):
    scaler = torch.amp.GradScaler("cuda")  # expect: PLM061
    # trap: off
    off = torch.amp.GradScaler("cuda", enabled=False)
    # trap: decided elsewhere
    maybe = torch.amp.GradScaler("cuda", enabled=use_fp16)
    for x in loader:
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(x).sum()
            scaler.scale(loss).backward()  # expect: PLM061
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(x).sum()
        # trap: outside
        loss.backward()
        with torch.autocast("cuda", enabled=False, dtype=torch.bfloat16):
            # trap: not casting
            model(x).sum().backward()
        scaler.step(optimizer)
    return off, maybe


def chosen(model, loader, optimizer, half):
    context = torch.autocast if half else nullcontext
    quiet = partial(torch.autocast, "cuda", enabled=False)
    for x in loader:
        with context("cuda"):
            loss = model(x).sum()
            loss.backward()  # expect: PLM061
        with quiet():
            # trap: not casting
            model(x).sum().backward()
        with context("cuda"):
            loss = model(x).sum()
        # trap: outside
        loss.backward()
        optimizer.step()
