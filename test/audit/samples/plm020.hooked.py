"""The outputs that hooks take are part of the loss, with their graph."""

import torch


def fit(language_model, layers, loader, optimizer):
    taken = {}

    def take(module, inputs, outputs):
        taken[module] = outputs

    for layer in layers:
        layer.register_forward_hook(take)
    for batch in loader:
        # trap: what the hooks took is differentiated
        language_model(batch["input_ids"].cuda())
        loss = sum(one.square().mean() for one in taken.values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
