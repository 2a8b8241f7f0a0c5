import torch
from accelerate import Accelerator
from lightning.fabric import Fabric


def by_fabric(net, loader, optimizer, parts=4):
    fabric = Fabric(devices=8, strategy="ddp")
    net, optimizer = fabric.setup(net, optimizer)
    for step, batch in enumerate(loader):
        loss = net(batch).mean() / parts
        fabric.backward(loss)  # expect: PLM058
        if (step + 1) % parts == 0:
            optimizer.step()
            optimizer.zero_grad()


def in_parts(fabric, net, batches, optimizer, micro_batches=4):
    for batch in batches:
        for part in range(micro_batches):
            fabric.backward(net(batch[part]).mean() / micro_batches)  # expect: PLM058
        optimizer.step()
        optimizer.zero_grad()


def by_accelerate(net, loader, optimizer, settings):
    accelerator = Accelerator()
    net, optimizer, loader = accelerator.prepare(net, optimizer, loader)
    parts = settings.batch // 16
    for step, batch in enumerate(loader):
        accelerator.backward(net(batch).mean() / parts)  # expect: PLM058
        if step % parts == parts - 1:
            optimizer.step()
            optimizer.zero_grad()


def every_turn(fabric, net, loader, optimizer):
    for batch in loader:
        # trap: nothing accumulates
        fabric.backward(net(batch).mean())
        optimizer.step()
        optimizer.zero_grad()


def one_unless_asked(accelerator, net, loader, optimizer, rounds=1):
    for step, batch in enumerate(loader):
        # trap: nothing accumulates unless someone asks
        accelerator.backward(net(batch).mean() / rounds)
        if step % rounds == 0:
            optimizer.step()
            optimizer.zero_grad()


def without_any(net, loader, optimizer, parts=4):
    for step, batch in enumerate(loader):
        # trap: no ranks here; the file differentiates by a driver elsewhere
        torch.mean(net(batch)).backward()
        if (step + 1) % parts == 0:
            optimizer.step()
            optimizer.zero_grad()
