import time

import torch


def scores_of(net, images):
    return net(images).log_softmax(-1)


def read_scores(net, images):
    return net(images).log_softmax(-1).cpu()


def sizes_of(net):
    return [parameter.numel() for parameter in net.parameters()]


def train(net, loader, optimizer, device):
    net.to(device)
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        begun = time.time()
        with torch.no_grad():
            reference = scores_of(net, images)
        print(time.time() - begun)  # expect: PLM083
        begun_reading = time.time()
        kept = read_scores(net, images)
        print(time.time() - begun_reading)  # trap: what it runs has come back to the host
        begun_counting = time.time()
        sizes = sizes_of(net)
        print(time.time() - begun_counting, sizes)  # trap: no device work
        loss = (scores_of(net, images) - reference).sum() + kept.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
