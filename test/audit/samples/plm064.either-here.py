"""The same at the place of the resize, and in one expression."""

import cv2
import torch

torch.backends.cudnn.benchmark = True  # expect: PLM064


def load(path, side):
    image = cv2.imread(path)
    h, w = image.shape[:2]
    scale = side / h if w >= h else side / w
    image = cv2.resize(image, (round(w * scale), round(h * scale)))
    return torch.from_numpy(image).cuda()
