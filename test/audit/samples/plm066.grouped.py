# Each parameter is in one of the groups, whatever its name.
import torch


def group(net, rate, decay):
    plain, decayed = [], []
    for name, weight in net.named_parameters():
        # trap: those that others froze
        if not weight.requires_grad:
            continue
        # trap: into another group
        if name.endswith(".bias"):
            plain.append(weight)
            continue
        # trap: the rest follows
        if "norm" in name:
            plain.append(weight)
        else:
            decayed.append(weight)
    return torch.optim.AdamW([{"params": plain}, {"params": decayed, "weight_decay": decay}], lr=rate)
