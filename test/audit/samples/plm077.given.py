import torch
from torch import nn


def switch(part, learns=False):
    part.requires_grad = learns  # expect: PLM077
    part.is_switched = learns


def switch_weight(weight, learns=False):
    # trap: given parameters alone
    weight.requires_grad = learns


def switch_either(one, learns=False):
    if isinstance(one, nn.Module):
        for p in one.parameters():
            p.requires_grad = learns
    else:
        # trap: what comes here is no module
        one.requires_grad = learns


def switch_and_note(one, learns=False):
    for p in one.parameters():
        p.requires_grad = learns
    # trap: done above, and this says so
    one.requires_grad = learns


def switch_module(module):
    module.requires_grad = False  # likely: PLM077


def main(net, loader, optimizer):
    def freeze(layer):
        layer.requires_grad = False  # expect: PLM077

    def freeze_table(table):
        # trap: given a parameter
        table.requires_grad = False

    freeze(net.encoder)
    freeze_table(net.encoder.table)
    switch(net.decoder, learns=True)
    switch(net.anything)
    switch_weight(net.decoder.weight)
    switch_either(net.encoder)
    switch_and_note(net.encoder)
    for x in loader:
        net(x.cuda()).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
