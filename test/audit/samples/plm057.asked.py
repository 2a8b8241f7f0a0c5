import torch
from helpers import make_optimizer


def main(net, device):
    net.cuda()
    extra = {"foreach": device.type == "cuda"}  # expect: PLM057
    # trap: no optimizer is told of it
    loops = {"foreach": True}
    print(loops)
    # trap: switched off
    plain = {"foreach": False}
    return make_optimizer("AdamW", net.parameters(), **extra), make_optimizer("Adam", net.parameters(), **plain)
