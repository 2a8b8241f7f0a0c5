import functools

import torch


def tidy(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        out = fn(*args, **kwargs)
        torch.cuda.empty_cache()  # expect: PLM031
        return out

    return wrapper


def between(fn):
    def wrapper(*args):
        # trap: around what is done once
        torch.cuda.empty_cache()
        return fn(*args)

    return wrapper


@tidy
def step(model, x, optimizer):
    model(x).sum().backward()
    optimizer.step()
    optimizer.zero_grad()


@between
def save(model, path):
    torch.save(model.state_dict(), path)


def train(model, loader, optimizer):
    for x in loader:
        step(model, x, optimizer)
    save(model, "model.pt")
