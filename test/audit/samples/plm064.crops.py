import math

import numpy as np
import torch
import torch.nn.functional as F

# trap: what is resized at random is cut to one size
torch.backends.cudnn.benchmark = True


def jitter(clip, least, most):
    side = int(round(np.random.uniform(least, most)))
    height = int(math.floor(clip.shape[2] / clip.shape[3] * side))
    return F.interpolate(clip, size=(height, side))


def random_crop(clip, side):
    top = np.random.randint(0, clip.shape[2] - side)
    return clip[:, :, top : top + side, :side]
