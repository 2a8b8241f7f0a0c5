import copy

import torch

device = torch.device("cuda")


class Average:
    def __init__(self, module, settings):
        self.shadow = copy.deepcopy(module)  # expect: PLM016
        # trap: no network
        self.initial = copy.deepcopy(settings)

    @torch.no_grad()
    def update(self, module):
        for s, p in zip(self.shadow.parameters(), module.parameters()):
            s.lerp_(p, 0.001)


def averaged(net):
    return copy.deepcopy(net)  # expect: PLM016


def scratch(net):
    # trap: for whatever it is wanted
    return copy.deepcopy(net)


def prev_settings(settings):
    # trap: no network
    return copy.deepcopy(settings)
