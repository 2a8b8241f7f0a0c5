import itertools

import torch
import torch.nn.functional as F


def views(wanted, given, warmth):
    total = 0.0
    for target in wanted:
        sharp = F.softmax(target.detach() / 0.04, dim=-1)
        for view in given:
            total = total - (sharp * F.log_softmax(view / warmth, dim=-1)).sum(-1).mean()  # expect: PLM080
    return total


def numbered(wanted, given, warmth):
    total, terms = 0.0, 0
    parts = (given / warmth).chunk(8)
    for at, target in enumerate(wanted):
        for other in range(len(parts)):
            if other == at:
                continue
            scaled = parts[other].float()
            total = total - (target * torch.log_softmax(scaled, dim=-1)).sum(-1).mean()  # expect: PLM080
            terms += 1
    return total / terms


def mutual(outputs):
    return sum(
        F.kl_div(one, outputs[j].softmax(-1))  # expect: PLM080
        for i, one in enumerate(outputs)
        for j in range(len(outputs))
        if i != j
    )


def pairs(outputs):
    total = 0.0
    for i in range(len(outputs)):
        for j in range(i + 1, len(outputs)):
            total = total + (outputs[i] - outputs[j].softmax(-1)).square().mean()  # expect: PLM080
    return total


def product(wanted, given):
    total = 0.0
    for target, view in itertools.product(wanted, given):
        total = total - (target * view.log_softmax(-1)).mean()  # expect: PLM080
    return total


def once(wanted, given):
    # trap: once for each
    logs = [view.log_softmax(-1) for view in given]
    return -sum((target * log).mean() for target in wanted for log in logs)


def warmths(given, steps):
    total = 0.0
    for warmth in steps:
        for view in given:
            # trap: each with another temperature
            total = total + (view / warmth).softmax(-1).mean()
    return total


def chunks(given, size):
    total = 0.0
    for start in range(0, len(given), size):
        for at in range(start, start + size):
            # trap: others in each turn
            total = total + given[at].softmax(-1).square().mean()
    return total


def layers(batches):
    total = 0.0
    for batch in batches:
        for view in batch:
            # trap: those of another batch
            total = total + view.softmax(-1).square().mean()
    return total


def known(wanted, given):
    total, seen = 0.0, {}
    for target in wanted:
        for at, view in enumerate(given):
            if at not in seen:
                # trap: kept for the next turns
                seen[at] = view.log_softmax(-1)
            total = total - (target * seen[at]).mean()
    return total


def dropped(wanted, given):
    total = 0.0
    for target in wanted:
        for view in given:
            # trap: another one each time
            total = total - (target * F.log_softmax(F.dropout(view, 0.1), dim=-1)).mean()
    return total


@torch.no_grad()
def compare(wanted, given):
    total = 0.0
    for target in wanted:
        for view in given:
            # trap: nothing is kept for backward
            total = total - (target * view.log_softmax(-1)).mean()
    return total


def joined(wanted, given):
    total = 0.0
    for target, view in itertools.product(wanted, given):
        # trap: of both
        total = total + (target + view).softmax(-1).square().mean()
    return total


def side(wanted, given):
    total = 0.0
    for target, view in zip(wanted, given):
        # trap: side by side, each once
        total = total - (target * view.log_softmax(-1)).mean()
    return total


def train(net, data, optimizer, epochs):
    for _ in range(epochs):
        for given in data:
            # trap: after a step, the network gives other scores
            loss = -net(given).log_softmax(-1).mean() - (given.softmax(-1)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
