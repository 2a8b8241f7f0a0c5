"""Each image resized by its own sides, before it is a tensor."""

import cv2
import torch
from skimage import transform

torch.backends.cudnn.benchmark = True  # expect: PLM064


def prepare(image, shortest=600, longest=1000):
    channels, height, width = image.shape
    up = shortest / min(height, width)
    down = longest / max(height, width)
    scale = min(up, down)
    return transform.resize(image, (channels, height * scale, width * scale))


def shrink(image, longest):
    height, width = image.shape[:2]
    ratio = longest / max(height, width)
    return cv2.resize(image, (int(width * ratio), int(height * ratio)))
