"""Each image resized by the shorter of its sides, whichever that is."""

import numpy as np
import torch
from PIL import Image

torch.backends.cudnn.benchmark = True  # expect: PLM064


def scale_for(width, height, shortest):
    if not shortest:
        return 1.0
    if width > height:
        scale = shortest / height
    else:
        scale = shortest / width
    return scale


def load(path, shortest):
    image = Image.open(path).convert("RGB")
    scale = scale_for(image.width, image.height, shortest)
    size = (int(image.width * scale), int(image.height * scale))
    return torch.from_numpy(np.array(image.resize(size))).cuda()
