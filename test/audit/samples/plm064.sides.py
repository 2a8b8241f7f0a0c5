"""Each image resized by its own sides."""

import torch
import torch.nn.functional as F

torch.backends.cudnn.benchmark = True  # expect: PLM064


def resize(image, shortest, longest):
    height, width = image.shape[-2:]
    scale = min(shortest / min(height, width), longest / max(height, width))
    size = [round(side * scale) for side in (height, width)]
    return F.interpolate(image[None], size=size)[0]
