import torch
from torch import nn
from torch.optim import Adam


class Agent:
    def __init__(self, device, net):
        net.gain = nn.Parameter(torch.ones(1)).to(device)  # likely: PLM077
        log_alpha = torch.zeros(1, requires_grad=True).to(device)  # likely: PLM077
        self.optimizer = Adam([log_alpha], lr=1e-3)
        # trap: made where it stays
        self.beta = torch.zeros(1, requires_grad=True, device=device)
        # trap: what is moved is no leaf yet
        self.gamma = nn.Parameter(torch.zeros(1).to(device))
        # trap: only a look at it
        shown = nn.Parameter(torch.ones(1)).to(device)
        print(shown)


def project(features, width):
    return nn.Linear(features.shape[-1], width).to(features.device)(features)  # likely: PLM077


def make_head(features, width):
    # trap: it is handed out
    return nn.Linear(features.shape[-1], width)


def freeze(wrapper):
    wrapper.image_tower.requires_grad = False  # likely: PLM077
    # trap: a parameter
    wrapper.pos_embed.requires_grad = False
