import torch
from torch import nn

from parts import make_norm


class Net(nn.Module):
    def __init__(self, device):
        super().__init__()
        gain = nn.Parameter(torch.ones(4))
        self.gain = gain.to(device)  # expect: PLM077
        scale = nn.Parameter(torch.ones(4))
        # trap: the parameter itself is stored as well
        self.scale = scale
        self.doubled = scale * 2
        shift = nn.Parameter(torch.ones(4))
        # trap: registered as it is
        self.register_parameter("shift", shift)
        # trap: made once
        self.norm = make_norm(4).to(device)

    def forward(self, x):
        y = make_norm(x.shape[1]).to(x.device)(x)  # expect: PLM077
        # trap: a tensor
        z = self.norm(x).to(x.device)
        return y * self.gain + z


def freeze(backbone, model):
    for part in [backbone.conv1, backbone.layer1]:
        part.requires_grad = False  # expect: PLM077
    # trap: parameters have it
    for weight in [backbone.conv1.weight, backbone.bias]:
        weight.requires_grad = False
    model.conv2.requires_grad = False  # expect: PLM077
    # trap: may be a parameter
    model.proj.requires_grad = False


def lower(model, count):
    model.train()
    for stage in model.body[:-count]:
        stage.requires_grad = False  # expect: PLM077
    for number, stage in enumerate(model.encoder):
        stage.requires_grad = number > count  # expect: PLM077
        if number < count:
            stage.requires_grad = False  # expect: PLM077
    # trap: lists of parameters
    for weight in model.head:
        weight.requires_grad = False
    for one in model.embeddings:
        one.requires_grad = False
    # trap: nobody knows what these are
    for one in model.things[1:]:
        one.requires_grad = False
    for p in model.decoder.parameters():
        p.requires_grad = False
