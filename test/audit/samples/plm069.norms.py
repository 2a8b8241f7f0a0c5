import torch
from accelerate import Accelerator
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.utils.tensorboard import SummaryWriter

device = torch.device("cuda")
writer = SummaryWriter()


def train_accelerated(net, optimizer, loader):
    accelerator = Accelerator()
    net, optimizer, loader = accelerator.prepare(net, optimizer, loader)
    for step, x in enumerate(loader):
        loss = net(x).mean()
        accelerator.backward(loss)
        norm = accelerator.clip_grad_norm_(net.parameters(), 1.0)
        writer.add_scalar("norm", norm, step)  # expect: PLM069
        optimizer.step()
        optimizer.zero_grad()


def train_sharded(net, optimizer, loader):
    sharded = FullyShardedDataParallel(net.to(device))
    for step, x in enumerate(loader):
        loss = sharded(x.to(device)).mean()
        loss.backward()
        norm = sharded.clip_grad_norm_(1.0)
        writer.add_scalar("norm", norm, step)  # expect: PLM069
        optimizer.step()
        optimizer.zero_grad()


def train_measured(net, optimizer, loader):
    net.to(device)
    for step, x in enumerate(loader):
        loss = net(x.to(device)).mean()
        loss.backward()
        norm = torch.nn.utils.get_total_norm([p.grad for p in net.parameters()])
        writer.add_scalar("norm", norm, step)  # expect: PLM069
        optimizer.step()
        optimizer.zero_grad()


class Clipper:
    def __init__(self):
        self.limit = 1.0

    def clip_grad_norm_(self, parameters, limit):
        self.limit = 0.9 * self.limit + 0.1 * limit
        torch.nn.utils.clip_grad_norm_(parameters, self.limit)
        return self.limit


def train_clipped(net, optimizer, loader):
    net.to(device)
    clipper = Clipper()
    for step, x in enumerate(loader):
        loss = net(x.to(device)).mean()
        loss.backward()
        limit = clipper.clip_grad_norm_(net.parameters(), 1.0)
        writer.add_scalar("limit", limit, step)  # trap: a number, by a class of this file
        optimizer.step()
        optimizer.zero_grad()


def train_seldom(net, optimizer, loader):
    accelerator = Accelerator()
    net, optimizer, loader = accelerator.prepare(net, optimizer, loader)
    for step, x in enumerate(loader):
        loss = net(x).mean()
        accelerator.backward(loss)
        norm = accelerator.clip_grad_norm_(net.parameters(), 1.0)
        if step % 100 == 0:
            writer.add_scalar("norm", norm, step)  # trap: once in a hundred steps
        optimizer.step()
        optimizer.zero_grad()
