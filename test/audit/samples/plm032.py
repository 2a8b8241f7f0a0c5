import itertools

import torch
from torch.nn.utils import clip_grad_norm_


def train(model, loader, optimizer, checked):
    scaler = torch.amp.GradScaler("cuda")
    for step, x in enumerate(loader):
        scaler.scale(model(x).sum()).backward()
        clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)  # expect: PLM032
        # trap: the default
        clip_grad_norm_(model.parameters(), 1.0)
        # trap: decided elsewhere
        clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=checked)
        scaler.step(optimizer)
        scaler.update()
        print(scaler.get_scale())  # expect: PLM032
        if step % 100 == 0:
            # trap: now and then
            print(scaler.get_scale())
    # trap: once
    print(scaler.get_scale())


def train_nothing(model, loader, optimizer):
    params = itertools.chain(model.encoder.parameters(), model.head.parameters())
    for x in loader:
        model(x).sum().backward()
        # trap: the first step has used them up, and nothing is looked at
        clip_grad_norm_(params, 1.0, error_if_nonfinite=True)
        optimizer.step()
