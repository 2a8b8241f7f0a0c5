import numpy as np
import torch

# trap: as long as it is told
torch.backends.cudnn.benchmark = True


def pad_1d(lines, length):
    return np.stack([np.pad(line, (0, length - len(line))) for line in lines])


def pad_kernel(kernel, at_least):
    # trap: of one tensor
    side = max(kernel.shape[0], at_least)
    return np.pad(kernel, (0, side - kernel.shape[0]))
