"""Classes that scale, differentiate and step."""

import torch


class Scaled:
    def __init__(self):
        self.scaler = torch.amp.GradScaler("cuda")

    def __call__(self, loss, optimizer, create_graph=False, due=True):
        self.scaler.scale(loss).backward(create_graph=create_graph, retain_graph=True)  # expect: PLM007
        if due:
            self.scaler.step(optimizer)
            self.scaler.update()


class Gathered:
    def __init__(self):
        self.scaler = torch.amp.GradScaler("cuda")

    def __call__(self, loss):
        # trap: it takes no step, and may be called with the next term of the same graph
        self.scaler.scale(loss).backward(retain_graph=True)


class Both:
    def __init__(self):
        self.scaler = torch.amp.GradScaler("cuda")

    def __call__(self, first, second, optimizer):
        # trap: the second goes through the same graph
        self.scaler.scale(first).backward(retain_graph=True)
        self.scaler.scale(second).backward()
        self.scaler.step(optimizer)
