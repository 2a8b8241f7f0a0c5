"""Below a skipped turn, but now and then: for a log."""

import torch


def train(model, loader, optimizer, args):
    model.cuda()
    for i, x in enumerate(loader):
        if x.size(0) == 1:
            continue
        loss = model(x.cuda()).mean() / args.update_freq
        loss.backward()
        if (i + 1) % args.update_freq != 0:
            continue
        optimizer.step()
        optimizer.zero_grad()
        if i % args.print_every == 0:
            norm = sum([p.norm() ** 2 for p in model.parameters()])
            args.norms.append(norm)
