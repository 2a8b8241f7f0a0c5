from functools import partial

import torch

TABLE = {"sgd": torch.optim.SGD, "adamw": torch.optim.AdamW}
make = partial(torch.optim.AdamW, lr=1e-4)  # expect: PLM057


def build(model, name="adamw", other="sgd"):
    model.cuda()
    # trap: another one
    first = TABLE[other](model.parameters(), lr=0.1)
    second = getattr(torch.optim, "Adam")(model.parameters(), lr=1e-4)  # expect: PLM057
    return first, second, TABLE[name](model.parameters(), lr=1e-4)  # expect: PLM057


def chosen(model, name):
    # trap: nobody knows which
    return TABLE[name](model.parameters(), lr=1e-4)
