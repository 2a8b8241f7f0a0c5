import torch
import torch.utils.checkpoint as cp
from torch.utils.checkpoint import checkpoint, checkpoint_sequential


def checkpoint_saved(path):
    return path


class Checkpointer:
    def checkpoint(self, state):
        return state


def forward(blocks, x, mask, options):
    for block in blocks:
        x = checkpoint(block, x, mask)  # expect: PLM051
        x = cp.checkpoint(block, x)  # expect: PLM051
        x = torch.utils.checkpoint.checkpoint(  # expect: PLM051
            block,
            x,
        )
        # trap: said
        x = checkpoint(block, x, use_reentrant=False)
        # trap: may be inside the options
        x = checkpoint(block, x, **options)
    x = checkpoint_sequential(blocks, 2, x)  # expect: PLM051
    # trap: another function of that name
    Checkpointer().checkpoint(x)
    return checkpoint_saved(x)


def by_version(block, x):
    if is_torch_version(">=", "1.11.0"):
        x = checkpoint(block, x, use_reentrant=False)
    else:
        # trap: a torch that does not know the argument
        x = checkpoint(block, x)
    return x
