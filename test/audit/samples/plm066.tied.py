# What was there before, under another name.
import torch


def once(net, rate, shared):
    seen, chosen = set(), []
    for name, weight in net.named_parameters():
        # trap: it is in already
        if name in seen:
            continue
        seen.add(name)
        chosen.append(weight)
    return torch.optim.SGD(chosen, lr=rate)
