import cv2
import torch
from torch import nn

torch.backends.cudnn.benchmark = True  # expect: PLM064


class Crowds:
    """One photograph after another, as large as each is."""

    def __init__(self, paths):
        self.paths = paths

    def __iter__(self):
        for path in self.paths:
            image = cv2.imread(path, 0)
            height, width = image.shape[0], image.shape[1]
            down = (height // 8) * 8
            right = width - width % 8
            image = cv2.resize(image, (right, down))
            yield torch.from_numpy(image)[None, None].float()


def train(net, paths, optimizer):
    net.cuda()
    for image in Crowds(paths):
        loss = net(image.cuda()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def build():
    return nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Conv2d(8, 1, 1))
