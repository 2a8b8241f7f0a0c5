import torch
import torch.nn.functional as F


def part(net, images, labels, total):
    scores = net(images)
    total = total + F.cross_entropy(scores, labels)  # expect: PLM005
    return total


def in_parts(net, micro_batches, optimizer, device):
    net.to(device)
    total = 0.0
    for images, labels in micro_batches:
        total = part(net, images.to(device), labels.to(device), total)
    optimizer.zero_grad()
    total.backward()
    optimizer.step()


def now_and_then(net, optimizer, batch, waiting, turn):
    images, labels = batch
    waiting = waiting + F.cross_entropy(net(images), labels)  # expect: PLM005
    if (turn + 1) % 4 == 0:
        optimizer.zero_grad()
        waiting.backward()
        optimizer.step()
        waiting = 0.0
    return waiting


def epoch(net, loader, optimizer, device):
    net.to(device)
    waiting = 0.0
    for turn, batch in enumerate(loader):
        waiting = now_and_then(net, optimizer, batch, waiting, turn)


def unrolled(net, state, labels, total):
    state = net(state)
    total = total + F.cross_entropy(state, labels)  # trap: each turn goes on from what the last one made
    return total, state


def through_time(net, state, labels, optimizer, device):
    net.to(device)
    total = 0.0
    for _ in range(5):
        total, state = unrolled(net, state, labels, total)
    optimizer.zero_grad()
    total.backward()
    optimizer.step()


def each(net, images, labels, shown):
    loss = F.cross_entropy(net(images), labels)
    loss.backward()
    shown = shown + loss.detach()  # trap: every part is differentiated by itself
    return shown


def each_in_parts(net, micro_batches, optimizer, device):
    net.to(device)
    shown = torch.zeros((), device=device)
    optimizer.zero_grad()
    for images, labels in micro_batches:
        shown = each(net, images.to(device), labels.to(device), shown)
    optimizer.step()
    return shown


def same_batch(net, images, labels, weight, total):
    total = total + weight * F.cross_entropy(net(images), labels)  # trap: one batch, and no part of it
    return total


def weighted(net, images, labels, weights, optimizer, device):
    net.to(device)
    total = 0.0
    for weight in weights:
        total = same_batch(net, images, labels, weight, total)
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
