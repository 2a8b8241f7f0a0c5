import torch
import torch.nn.functional as F
from torch.utils.tensorboard import SummaryWriter

device = torch.device("cuda")


def printed(net, loader, optimizer):
    writer = SummaryWriter()
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(net(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("loss", loss)
        # No fix: the print waits in every turn all the same.
        writer.add_scalar("loss", loss, step)  # expect: PLM069, by hand


def summed(net, loader, optimizer):
    writer, total = SummaryWriter(), 0.0
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(net(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        # No fix: what is summed below waits.
        writer.add_scalar("loss", loss, step)  # expect: PLM069, by hand
        total += loss.item()
    return total


def shown(net, loader, optimizer):
    writer = SummaryWriter()
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(net(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        writer.add_scalar("loss", loss, step)  # expect: PLM069
        if step % 100 == 0:
            print("loss", loss.item())
            # trap: now and then
            writer.add_scalar("shown", loss, step)
