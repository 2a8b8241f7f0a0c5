import torch
import torch.distributed as dist
from torch.nn import functional as F

from scores import accuracy


def fit(model, loader, optimizer):
    model.cuda()
    for x, y in loader:
        out = model(x.cuda())
        loss = F.cross_entropy(out, y.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        top1, top5 = accuracy(out, y.cuda())
        shown = loss.detach().clone()
        dist.all_reduce(shown)
        dist.all_reduce(top1)  # expect: PLM071
        dist.all_reduce(top5)
        print(shown.item(), top1[0], top5[0])


def read(model, loader, optimizer):
    model.cuda()
    for x, y in loader:
        out = model(x.cuda())
        F.cross_entropy(out, y.cuda()).backward()
        optimizer.step()
        optimizer.zero_grad()
        top1, top5 = accuracy(out, y.cuda())
        dist.all_reduce(top1)
        dist.all_reduce(top5)  # expect: PLM071
        print(top1.item(), top5.item())


def features(model, loader, optimizer):
    model.cuda()
    for x, y in loader:
        out, maps = model(x.cuda())
        loss = F.cross_entropy(out, y.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        shown = loss.detach().clone()
        dist.all_reduce(shown)
        # trap: what a network gave is no number to stack with one
        dist.all_reduce(maps)
