import random

import torch
import torchvision.transforms.functional as TF
from torchvision import transforms

torch.backends.cudnn.benchmark = True

# trap: drawn once, all batches of the run have this size
RESIZE = transforms.Resize(random.choice([192, 224]))


# trap: it may begin anywhere, but what is cut out is always as large
def window(images, side=128):
    top, left = random.randint(0, 64), random.randint(0, 64)
    return TF.crop(images, top, left, side, side)


def train(net, loader, loss, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        loss(net(window(RESIZE(x.cuda()))), y.cuda()).backward()
        optimizer.step()
