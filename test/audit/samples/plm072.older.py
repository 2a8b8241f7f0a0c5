import torch
from torch.utils.data import DataLoader


def train(net, near, far, feed, steps, crit, opt):
    loaders = {}
    loaders["near"] = DataLoader(near, batch_size=32, num_workers=8, pin_memory=True)
    loaders["far"] = DataLoader(far, batch_size=32, num_workers=8, pin_memory=True)
    plain = dict()
    plain["near"] = DataLoader(near, batch_size=32, num_workers=8)
    net.cuda()
    first = iter(loaders["near"])
    second = iter(loaders["far"])
    third = iter(plain["near"])
    for step in range(steps):
        if step % len(loaders["near"]) == 0:
            first = iter(loaders["near"])
        images, labels = first.next()
        others, _ = second.__next__()
        both = torch.cat((images, others), dim=0).cuda(non_blocking=True)  # expect: PLM072
        # trap: these are no pinned batches
        unpinned = torch.cat([third.next()[0], third.next()[0]]).cuda()
        # trap: who knows what that hands out
        fed = torch.cat([feed.next(), feed.next()]).cuda()
        loss = crit(net(both), labels.cuda(non_blocking=True)) + net(unpinned).mean() + net(fed).mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
