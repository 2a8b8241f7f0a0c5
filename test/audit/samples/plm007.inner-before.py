"""An inner function that differentiates what was computed before its loop."""

import torch


def attribute(model, images, labels, criterion, optimizer, rounds):
    model.train()

    def differentiate(loss):
        loss.backward(retain_graph=True)

    scores = model(images)
    for turn in range(rounds):
        # trap: every turn differentiates the graph of the one forward
        error = criterion(scores * turn, labels)
        differentiate(error)
        optimizer.step()
        optimizer.zero_grad()
