import torch

latest = {}


def note(**scalars):
    for name, value in scalars.items():
        latest[name] = float(value)  # expect: PLM025


def count(**numbers):
    for name, value in numbers.items():
        # trap: numbers
        latest[name] = float(value)


def mixed(**numbers):
    for name, value in numbers.items():
        # trap: one of its callers gives it numbers
        latest[name] = float(value)


def scaled(x, **options):
    # trap: any of them may be a number
    eps = float(options["eps"]) + float(options.get("eps", 1.0)) + float(options.pop("eps"))
    return x * eps


def train(model, loader, optimizer):
    for step, x in enumerate(loader):
        loss = model(x.cuda()).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        note(loss=loss)
        count(step=step)
        mixed(loss=loss)
        mixed(step=step)
        scaled(x, mask=loss, eps=0.1)
