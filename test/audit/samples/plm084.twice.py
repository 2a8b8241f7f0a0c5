# Two optimizers step by one test: what is wrong about it is said once.
import torch
from torch.nn.parallel import DistributedDataParallel


def train(net, loader, optimizer, other, criterion, count):
    net = DistributedDataParallel(net.cuda())
    for step, (x, y) in enumerate(loader):
        if (step + 1) % count != 0:
            with net.no_sync():  # expect: PLM084
                (criterion(net(x.cuda()), y.cuda()) / count).backward()
        else:
            (criterion(net(x.cuda()), y.cuda()) / count).backward()
        if (step + 1) % count == 0 or step + 1 == len(loader):
            optimizer.step()
            other.step()
            optimizer.zero_grad()
            other.zero_grad()


def train_all(net, loader, optimizer, other, criterion, count):
    net = DistributedDataParallel(net.cuda())
    for step, (x, y) in enumerate(loader):
        last = (step + 1) % count == 0 or step + 1 == len(loader)
        # trap: exchanged whenever there is a step
        net.require_backward_grad_sync = last
        (criterion(net(x.cuda()), y.cuda()) / count).backward()
        if last:
            optimizer.step()
            other.step()
            optimizer.zero_grad()
            other.zero_grad()


def main(net, loader, criterion):
    head, body = net.head.parameters(), net.body.parameters()
    optimizer, other = torch.optim.AdamW(head, fused=True), torch.optim.AdamW(body, fused=True)
    train(net, loader, optimizer, other, criterion, 4)
    train_all(net, loader, optimizer, other, criterion, 4)
