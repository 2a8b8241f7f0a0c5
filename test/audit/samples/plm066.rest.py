# Two optimizers, one for what the other leaves out.
import torch


def both(net, rate):
    chosen = []
    for name, weight in net.named_parameters():
        # trap: the other one has them
        if name.startswith("stem."):
            continue
        chosen.append(weight)
    return torch.optim.SGD(chosen, lr=rate), torch.optim.SGD(net.stem.parameters(), lr=rate / 10)
