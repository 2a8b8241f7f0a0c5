"""LoRA that computes in the model's half precision instead of fp32.

PEFT keeps adapters in fp32 beside a half-precision model and casts each layer's input up to them: backward keeps an fp32
copy of every input, and products, scaling and sum run in fp32. With that casting off, autocast casts the two thin
matrices down instead. Weights, gradients and optimizer state stay in fp32.
"""
from contextlib import contextmanager, nullcontext

import torch
from peft.helpers import disable_input_dtype_casting

HALF = (torch.bfloat16, torch.float16)


@contextmanager
def computing_in(model, dtype):
    """For as long as the model trains: layers that are recomputed in backward must see it too. None: as PEFT has it."""
    with disable_input_dtype_casting(model) if dtype in HALF else nullcontext():
        yield


def autocast(device, dtype):
    """Around forward and loss."""
    return torch.autocast(device.type, dtype) if dtype in HALF else nullcontext()
