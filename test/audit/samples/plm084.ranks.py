import contextlib

import torch


def train(args, model, loader, optimizer, criterion):
    for step, (x, y) in enumerate(loader):
        last = (step + 1) % args.accumulate == 0
        first = step % args.accumulate == 0
        # trap: gradients are exchanged where the optimizer steps
        right = model.no_sync() if args.distributed and not last else contextlib.nullcontext()
        with right:
            loss = criterion(model(x.to("cuda")), y.to("cuda"))
            loss.backward()
        if last:
            optimizer.step()
            optimizer.zero_grad()


def train_wrongly(args, model, loader, optimizer, criterion):
    for step, (x, y) in enumerate(loader):
        first = step % args.accumulate == 0
        wrong = model.no_sync() if args.distributed and not first else contextlib.nullcontext()  # expect: PLM084
        with wrong:
            loss = criterion(model(x.to("cuda")), y.to("cuda"))
            loss.backward()
        if (step + 1) % args.accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
