import torch
import torch.nn as nn


def train(model, loader, optimizer, record):
    model.register_forward_hook(record)  # expect: PLM012
    # trap: once, with a handle to remove it by
    watch = model.register_forward_hook(record)
    for x in loader:
        model.encoder.register_forward_hook(record)  # expect: PLM012
        # trap: the handle is kept
        handle = model.head.register_forward_hook(record)
        out = model(x)
        # trap: a tensor's hook goes with the tensor
        out.register_hook(record)
        out.sum().backward()
        handle.remove()
        optimizer.step()
    watch.remove()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)
        # trap: at construction
        self.inner.register_forward_hook(print)

    def forward(self, x):
        self.inner.register_full_backward_hook(print)  # expect: PLM012
        return self.inner(x)
