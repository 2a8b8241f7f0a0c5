import torch
from torch.nn.utils import clip_grad_norm_


def train(model, loader, optimizer):
    for step, x in enumerate(loader):
        (model(x).sum() / 4).backward()
        clip_grad_norm_(model.parameters(), 1.0)  # expect: PLM079
        if (step + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()


def once(model, loader, optimizer):
    for step, x in enumerate(loader):
        (model(x).sum() / 4).backward()
        if (step + 1) % 4 == 0:
            # trap: beside the step
            clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()


def plain(model, loader, optimizer):
    for x in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        # trap: a step in every turn
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def measured(model, loader, optimizer):
    for step, x in enumerate(loader):
        (model(x).sum() / 4).backward()
        # trap: nothing is clipped
        length = clip_grad_norm_(model.parameters(), float("inf"))
        if (step + 1) % 4 == 0:
            print(length)
            optimizer.step()
            optimizer.zero_grad()


def own(model, loader, optimizer, clip_grad_norm):
    for step, x in enumerate(loader):
        (model(x).sum() / 4).backward()
        # trap: somebody's own function
        clip_grad_norm(model)
        if (step + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()


def train_by_option(args, parser, model, loader, optimizer):
    parser.add_argument("--gradient_accumulation", default=1, type=int)
    for step, x in enumerate(loader):
        model(x).sum().backward()
        # trap: one at a time unless someone asks for more (a note)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # expect: PLM079
        if (step + 1) % args.gradient_accumulation == 0:
            optimizer.step()
            optimizer.zero_grad()


def each_by_itself(models, optimizers, loader):
    for x in loader:
        for model, optimizer in zip(models, optimizers):
            model(x).sum().backward()
            # trap: another network in each turn, and its own step
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
