"""A backward in a function of its own that is handed the loss, inside of the one that trains."""

import torch


def train(model, criterion, loader, optimizer, scale_loss, second_order, averaged):
    model.train()
    for step, (images, labels) in enumerate(loader):
        due = (step + 1) % 4 == 0

        def run():
            return criterion(model(images), labels)

        def differentiate(loss):
            if scale_loss is not None:
                scale_loss(loss, optimizer, create_graph=second_order)
            else:
                loss.backward(create_graph=second_order, retain_graph=True)  # expect: PLM007
                if due:
                    optimizer.step()

        if averaged:
            error = run()
            differentiate(error / 4)
        else:
            error = run()
            differentiate(error)
        if due:
            optimizer.zero_grad()
        print(error.item())
