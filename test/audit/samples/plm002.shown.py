import torch
import torch.nn.functional as F


def train(net, loader, optimizer, every, writer):
    recent = []
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(net(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        recent.append(loss)  # expect: PLM002
        if step % every == 0:
            recent = torch.stack(recent).mean()
            writer.add_scalar("loss", recent, step)
            recent = []


def train_in_groups(net, loader, optimizer, every):
    group = []
    for step, (x, y) in enumerate(loader):
        # trap: what the mean of the group is computed of, and differentiated
        group.append(F.cross_entropy(net(x.cuda()), y.cuda()))
        if step % every == 0:
            group = sum(group) / every
            group.backward()
            optimizer.step()
            optimizer.zero_grad()
            group = []


def train_by_halves(net, loader, optimizer, writer):
    terms = []
    for step, (x, y) in enumerate(loader):
        for half in range(2):
            loss = F.cross_entropy(net(x[half::2].cuda()), y[half::2].cuda())
            loss.backward()
            # trap: begun anew with every step
            terms.append(loss)
        optimizer.step()
        optimizer.zero_grad()
        terms = sum(terms) / 2
        writer.add_scalar("loss", terms, step)
        terms = []


def train_last(net, loader, optimizer, every, writer):
    recent = []
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(net(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        # trap: numbers
        recent.append(loss.item())
        if step % every == 0:
            recent = sum(recent) / len(recent)
            writer.add_scalar("loss", recent, step)
            recent = []
