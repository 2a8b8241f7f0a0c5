import cv2
import torch

# trap: each becomes one size again
torch.backends.cudnn.benchmark = True


def prepare(image, size):
    height, width = image.shape[:2]
    ratio = size / max(height, width)
    image = cv2.resize(image, (int(width * ratio), int(height * ratio)))
    down, right = size - image.shape[0], size - image.shape[1]
    return cv2.copyMakeBorder(image, 0, down, 0, right, cv2.BORDER_CONSTANT)
