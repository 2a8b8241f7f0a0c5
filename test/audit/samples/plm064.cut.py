import random

import torch
import torchvision.transforms.functional as TF
from torchvision import transforms

torch.backends.cudnn.benchmark = True  # expect: PLM064


def random_crop(images):
    high, wide = random.randint(128, 256), random.randint(128, 256)
    return TF.center_crop(images, (high, wide))  # expect: PLM064


def train(net, loader, loss, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        loss(net(random_crop(x.cuda())), y.cuda()).backward()
        optimizer.step()
