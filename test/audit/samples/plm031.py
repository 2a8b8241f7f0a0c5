import gc

import torch
from torch import nn
from torch.cuda import empty_cache


def train(model, loader, optimizer):
    for step, batch in enumerate(loader):
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        torch.cuda.empty_cache()  # expect: PLM031
        gc.collect()  # expect: PLM031
        if step % 10 == 0:
            empty_cache()  # expect: PLM031
        if step % 1000 == 0:
            # trap: the boundary of a phase
            evaluate(model, loader)
            torch.cuda.empty_cache()
    # trap: after training
    torch.cuda.empty_cache()
    gc.collect()


class Stack(nn.Module):
    def forward(self, x):
        for i, block in enumerate(self.blocks):
            x = block(x)
            if i % 4 == 3 and torch.cuda.is_available():
                torch.cuda.empty_cache()  # expect: PLM031
        return x


def recovering(model, loader, optimizer):
    for batch in loader:
        try:
            loss = model(batch).mean()
            loss.backward()
            optimizer.step()
        except torch.cuda.OutOfMemoryError:
            # trap: after running out of memory it may help
            torch.cuda.empty_cache()


def evaluate(model, loader):
    # trap: no training step here
    for batch in loader:
        model(batch)
        torch.cuda.empty_cache()


def epochs(model, loader, optimizer):
    for epoch in range(3):
        train(model, loader, optimizer)
        # trap: a phase boundary
        gc.collect()


def search(build, settings, batch):
    for setting in settings:
        model = Network(setting).cuda()
        model(batch).mean().backward()
        del model
        # trap: each turn is a trial with a network of its own, not a step
        torch.cuda.empty_cache()


class Network(nn.Module):
    pass


def generate_and_train(model, llm, loader, optimizer):
    for batch in loader:
        # trap: hands the memory to another tenant of the card
        torch.cuda.empty_cache()
        llm.wake_up()
        model(batch).mean().backward()
        optimizer.step()


def train_as_told(model, loader, optimizer, args):
    for batch in loader:
        model(batch).mean().backward()
        optimizer.step()
        if args.empty_unused_memory_level >= 1:
            # trap: a setting asks for just this
            torch.cuda.empty_cache()


def train_collected(model, loader, optimizer):
    step = 0
    for batch in loader:
        first_step = step == 0
        model(batch).mean().backward()
        optimizer.step()
        if first_step:
            # trap: once
            gc.collect()
            gc.freeze()
        step += 1
