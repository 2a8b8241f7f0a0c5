"""Results kept by where a tensor lies."""

import torch

MASKS = {}
SCALES = {}
GRIDS = {}


def added(mask, dtype):
    key = (id(mask), dtype)
    if key not in MASKS:
        MASKS[key] = torch.zeros_like(mask, dtype=dtype).masked_fill(~mask, -1e9)  # expect: PLM013
    return MASKS[key]


def scale(weight):
    if weight.data_ptr() not in SCALES:
        # trap: weights stay where they are
        SCALES[weight.data_ptr()] = weight.abs().amax()
    return SCALES[weight.data_ptr()]


def grid(size, device):
    key = (size, hash(device))
    if key not in GRIDS:
        # trap: a number and a device
        GRIDS[key] = torch.arange(size, device=device)
    return GRIDS[key]
