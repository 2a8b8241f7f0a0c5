import torch
from torch import nn
from transformers import T5ForConditionalGeneration

from codecs_of_ours import load_codec


class Speaker(nn.Module):
    def __init__(self, path, width):
        super().__init__()
        self.codec = load_codec(path)
        self.codec.requires_grad = False  # expect: PLM077
        self.codec.eval()
        # trap: a tensor, of which nothing is asked that modules are asked for
        self.table = load_codec(path).table
        self.table.requires_grad = False
        self.table.data.requires_grad_(False)
        self.gains = {"low": nn.Parameter(torch.ones(width)).cuda()}  # expect: PLM077
        self.token = nn.init.normal_(nn.Parameter(torch.empty(width)).cuda())  # expect: PLM077
        # trap: filled, and a parameter still
        self.mask = nn.init.zeros_(nn.Parameter(torch.empty(width)))
        self.encoder_k = load_codec(path)
        self.encoder_k.requires_grad = False  # expect: PLM077
        self.head = nn.Linear(width, width)
        self.last = None

    def forward(self, x):
        def gate(h):
            conv = nn.Linear(h.shape[-1], 1).to(h.device)  # expect: PLM077
            return h * torch.sigmoid(conv(h))

        # trap: a function inside forward that makes no layer
        def double(h):
            return 2 * h

        return self.narrow(self.head(double(gate(x))))

    def narrow(self, x):
        mix = nn.Parameter(torch.randn(8, 8, device=x.device))  # expect: PLM077
        if x.shape[-1] != 8:
            lower = nn.Linear(x.shape[-1], 8).to(x.device)  # expect: PLM077
            x = lower(x)
        # trap: made once and kept
        if self.last is None:
            self.last = nn.Linear(8, 8).to(x.device)
        return self.last(x @ mix)


def of_a_library(name):
    speaker = T5ForConditionalGeneration.from_pretrained(name)
    speaker.shared.requires_grad = False  # expect: PLM077
    speaker.encoder.block[0].requires_grad = False  # expect: PLM077
    # trap: a parameter has it
    speaker.shared.weight.requires_grad = False
    return speaker


def freeze(model, settings, names):
    model.visual.requires_grad = False  # expect: PLM077
    model.tower.requires_grad = settings.train_tower  # expect: PLM077
    model.tower.pool.requires_grad_(True)
    model.get_submodule("stem.first").requires_grad = False  # expect: PLM077
    model.requires_grad_ = False  # expect: PLM077
    for name, module in model.named_modules():
        module.requires_grad = any(one in name for one in names)  # expect: PLM077
    for _, child in model._modules.items():
        child.requires_grad = False  # expect: PLM077
    # trap: parameters have the attribute
    for name, parameter in model.named_parameters():
        parameter.requires_grad = any(one in name for one in names)
    # trap: a record of settings that holds a network as well
    settings.requires_grad = not names
    settings.model.eval()
    model.train()
    return model(torch.zeros(1).cuda())
