"""Iterators and batches that a turn is handed, and hands back."""

import torch
from torch.utils.data import DataLoader


def pinned_turn(net, opt, near, far, sets, count):
    if count % 100 == 0:
        near = iter(sets["near"])
    a, _ = next(near)
    b, _ = far.next()
    both = torch.cat((a, b), dim=0)  # expect: PLM072
    loss = net(both.cuda(non_blocking=True)).mean()
    loss.backward()
    opt.step()
    opt.zero_grad()
    return near, far


def plain_turn(net, opt, near, far):
    a, _ = next(near)
    b, _ = next(far)
    # trap: what these loaders hand out is not pinned
    both = torch.cat((a, b), dim=0)
    loss = net(both.to("cuda")).mean()
    loss.backward()
    opt.step()
    opt.zero_grad()
    return near, far


def sent_turn(net, opt, batches):
    a, _ = next(batches)
    a = a.cuda(non_blocking=True)
    # trap: joined on the device
    both = torch.cat((a, a.flip(-1)), dim=0).cuda()
    loss = net(both).mean()
    loss.backward()
    opt.step()
    opt.zero_grad()


def train(net, opt, first, second, turns):
    sets = {}
    sets["near"] = DataLoader(first, batch_size=8, num_workers=4, pin_memory=True)
    sets["far"] = DataLoader(second, batch_size=8, num_workers=4, pin_memory=True)
    near = iter(sets["near"])
    far = iter(sets["far"])
    for count in range(turns):
        near, far = pinned_turn(net, opt, near, far, sets, count)
    bare = iter(DataLoader(first, batch_size=8, num_workers=4))
    other = iter(DataLoader(second, batch_size=8, num_workers=4))
    for _ in range(turns):
        bare, other = plain_turn(net, opt, bare, other)
    for _ in range(turns):
        sent_turn(net, opt, near)
