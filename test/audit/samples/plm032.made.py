import torch
from torch.cuda import amp


def moon():
    return amp.GradScaler()


def flow(sea, loader, optimizer):
    pull = moon()
    for waves in loader:
        with torch.autocast("cuda", dtype=torch.float16):
            loss = sea(waves.cuda()).mean()
        pull.scale(loss).backward()
        pull.step(optimizer)
        pull.update()
        optimizer.zero_grad()
        print(pull.get_scale())  # expect: PLM032


class Ruler:
    def get_scale(self):
        return 3


def ruler(long):
    if long:
        return Ruler()
    return amp.GradScaler()


# What else the function may return has a scale of its own.
def ebb(sea, loader, optimizer, long):
    length = ruler(long)
    for waves in loader:
        loss = sea(waves.cuda()).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(length.get_scale())
