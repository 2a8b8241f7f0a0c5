import time

import torch
from library_of_losses import alignment_loss


def gathered(net, images):
    return net(images).float().mean().item()


def align(net, generator, loader, optimizer, writer):
    net.cuda()
    for step, images in enumerate(loader):
        # trap: who knows what a library's function waits for
        begun = time.time()
        loss = alignment_loss(net, generator, images)
        writer.add_scalar("time", time.time() - begun, step)
        loss.backward()
        optimizer.step()
        # trap: this one fetches a number
        looked = time.time()
        mean = gathered(net, images)
        writer.add_scalar("look", time.time() - looked, mean)
        ran = time.time()
        net(images)
        writer.add_scalar("ran", time.time() - ran, step)  # expect: PLM083
