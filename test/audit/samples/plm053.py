import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        return self.dropout(self.linear(x))


def forward(blocks, x, keep):
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False, preserve_rng_state=False)  # expect: PLM053
        # trap: the default
        x = checkpoint(block, x, use_reentrant=False)
        # trap: asked for
        x = checkpoint(block, x, use_reentrant=False, preserve_rng_state=True)
        # trap: decided elsewhere
        x = checkpoint(block, x, use_reentrant=False, preserve_rng_state=keep)
        # trap: another library's argument
        x = block.run(x, preserve_rng_state=False)
    return x


def enable(model):
    settings = {"use_reentrant": False, "preserve_rng_state": False}  # expect: PLM053
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs=settings)
