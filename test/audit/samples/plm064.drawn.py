import math
import random

import torch
import torch.nn.functional as F

torch.backends.cudnn.benchmark = True  # expect: PLM064


def stretch(images, side, stride):
    wanted = random.randrange(side // 2, side * 2) // stride * stride
    factor = wanted / max(images.shape[2:])
    size = [math.ceil(one * factor / stride) * stride for one in images.shape[2:]]
    return F.interpolate(images, size=size)  # expect: PLM064


def halved(images):
    # trap: the same each time
    size = [math.ceil(side / 2) for side in images.shape[2:]]
    return F.interpolate(images, size=size)
