import logging

import torch


class Mishaps:
    def __init__(self):
        self.seen = []
        self.count = 0

    def note(self, step, error):
        self.seen.append((step, error))

    def tell(self, step, error):
        self.count += 1
        logging.warning("step %d: %s", step, error)

    def remember(self, step, error):
        self.seen.append((step, str(error)))

    def sort(self, error):
        found = []
        found.append(error)
        return len(found)


def attempt(net, x):
    try:
        return net(x.cuda()).mean(), None
    except RuntimeError as failed:
        return None, failed  # expect: PLM011


def tried(net, x):
    try:
        return net(x.cuda()).mean()
    except RuntimeError as failed:
        # trap: whoever calls it looks at it and lets it go
        return failed


def train(net, loader, optimizer):
    mishaps = Mishaps()
    errors = []
    for step, x in enumerate(loader):
        try:
            loss = net(x.cuda()).mean()
            loss.backward()
            optimizer.step()
        except RuntimeError as e:
            mishaps.note(step, e)  # expect: PLM011
            # trap: shown
            mishaps.tell(step, e)
            # trap: its text
            mishaps.remember(step, e)
            # trap: into a list that goes with the call
            mishaps.sort(e)
        optimizer.zero_grad()
        loss, error = attempt(net, x)
        if error is not None:
            errors.append(error)
        outcome = tried(net, x)
        if isinstance(outcome, RuntimeError):
            print("failed", type(outcome))
    return errors
