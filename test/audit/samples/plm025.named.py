import math

import torch
import torch.distributed as dist
from torchvision.models.detection import fasterrcnn_resnet50_fpn


def reduced(given):
    out = {}
    for key, value in given.items():
        dist.all_reduce(value)
        out[key] = value / dist.get_world_size()
    return out


def at_once(loader, optimizer):
    net = fasterrcnn_resnet50_fpn(num_classes=2).cuda()
    for images, targets in loader:
        losses = net([one.cuda() for one in images], targets)
        told = sum(losses.values()).item()  # expect: PLM025
        optimizer.zero_grad()
        sum(losses.values()).backward()
        optimizer.step()
        print(told)


def of_all_ranks(loader, optimizer):
    net = fasterrcnn_resnet50_fpn(num_classes=2).cuda()
    for images, targets in loader:
        losses = net([one.cuda() for one in images], targets)
        loss = sum(losses.values())
        loss_of_all = reduced(losses)
        together = sum(one for one in loss_of_all.values())
        if not math.isfinite(together.item()):  # likely: PLM025
            raise SystemExit(1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def as_numbers(loader, optimizer):
    net = fasterrcnn_resnet50_fpn(num_classes=2).cuda()
    for images, targets in loader:
        losses = net([one.cuda() for one in images], targets)
        loss = sum(losses.values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss_numbers = {"seen": 1.0, "kept": 2.0}
        # trap: a sum of numbers
        print(float(sum(loss_numbers.values())))
