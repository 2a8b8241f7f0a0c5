"""Inner functions whose graph is wanted again."""

import torch


def train(model, criterion, penalty, loader, optimizer):
    model.train()
    for images, labels in loader:

        def differentiate(loss):
            loss.backward(retain_graph=True)

        scores = model(images)
        # trap: both are differentiated, and share the scores
        error = criterion(scores, labels)
        differentiate(error)
        cost = penalty(scores)
        differentiate(cost)
        optimizer.step()
        optimizer.zero_grad()
