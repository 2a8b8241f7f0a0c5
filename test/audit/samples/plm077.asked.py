import torch
from torch import nn


def freeze_norms(model):
    for m in model.modules():
        if isinstance(m, nn.BatchNorm2d):
            m.requires_grad = False  # expect: PLM077
    for one in model.parts():
        if isinstance(one, (nn.LayerNorm, nn.GroupNorm)):
            one.requires_grad = False  # expect: PLM077
        # trap: a tensor has it
        if isinstance(one, torch.Tensor):
            one.requires_grad = False
        # trap: so has a parameter
        elif isinstance(one, nn.Parameter):
            one.requires_grad = False
    return model
