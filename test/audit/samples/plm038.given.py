from functools import partial

import torch
from torch.utils.data import DataLoader

device = torch.device("cuda")


def padded(rows, pad):
    return torch.nn.utils.rnn.pad_sequence(rows, padding_value=pad).to(torch.long)


def sent(rows, place):
    return torch.stack(rows).to(place)


def plain_loader(rows, together):
    return DataLoader(rows, num_workers=4, collate_fn=together)  # expect: PLM038


def sent_loader(rows, together):
    # trap: one of those that are handed in puts the batch on the device
    return DataLoader(rows, num_workers=4, collate_fn=together)


def open_loader(rows, together):
    # nobody here says what it is given
    return DataLoader(rows, num_workers=4, collate_fn=together)  # likely: PLM038


def loaders(rows, held, short):
    bound = partial(padded, pad=0)
    either = bound if short else None
    a = DataLoader(rows, num_workers=4, collate_fn=None)  # expect: PLM038
    # trap: the place is bound to it
    b = DataLoader(rows, num_workers=4, collate_fn=partial(sent, place=device))
    return (
        plain_loader(rows, bound),
        plain_loader(held, either),
        sent_loader(rows, bound),
        sent_loader(held, partial(sent, place=device)),
        a,
        b,
    )
