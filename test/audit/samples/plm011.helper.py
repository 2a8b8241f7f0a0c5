import logging
import sys

import torch

errors = []


def note(step):
    errors.append(sys.exc_info())  # expect: PLM011


def tell(step):
    # trap: shown, and gone
    logging.error("step %d: %s", step, sys.exc_info()[1])


def other():
    # trap: nobody calls it where the network failed
    errors.append(sys.exc_info())


def train(model, loader, optimizer):
    for step, x in enumerate(loader):
        try:
            loss = model(x.cuda()).mean()
            loss.backward()
            optimizer.step()
        except RuntimeError:
            tell(step)
            note(step)
        optimizer.zero_grad()
