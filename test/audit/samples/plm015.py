import copy
from copy import deepcopy

import torch

device = torch.device("cuda")


def train(model, optimizer, config, epochs):
    model.to(device)
    best = copy.deepcopy(model.state_dict())  # expect: PLM015
    for _ in range(epochs):
        best = deepcopy(model.state_dict())  # expect: PLM015
    # trap: not a tensor in it
    settings = copy.deepcopy(config)
    # trap: an optimizer's state
    state = copy.deepcopy(optimizer.state_dict())
    # trap: on the host already
    host = copy.deepcopy(model.cpu().state_dict())
    return best, settings, state, host


class Lookahead:
    def __init__(self, net):
        # trap: computed with where the network is
        self.slow = {k: v.clone() for k, v in net.state_dict().items()}
        self.best = {k: v.clone() for k, v in net.state_dict().items()}  # expect: PLM015

    def update(self, net, decay):
        for slow, fast in zip(self.slow.values(), net.state_dict().values()):
            slow.lerp_(fast, 1 - decay)
            fast.copy_(slow)

    def restore(self, net):
        for k, v in self.best.items():
            net.state_dict()[k].copy_(v)


def drift(net, batches):
    # trap: compared with where the network is
    before = {k: v.clone() for k, v in net.named_parameters()}
    train(net, batches)
    return {k: (v - before[k]).norm() for k, v in net.named_parameters()}
