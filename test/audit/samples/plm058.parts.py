# Accumulated over what is called anything but micro-steps.
import torch
from torch.nn.parallel import DistributedDataParallel


def wrap(net, rank, options):
    return DistributedDataParallel(net, device_ids=[rank], **options)


def train(model, loader, optimizer, accu_steps, criterion):
    for images, labels in loader:
        optimizer.zero_grad()
        for part in range(accu_steps):
            loss = criterion(model(images[part::accu_steps]), labels[part::accu_steps])
            (loss / accu_steps).backward()  # expect: PLM058
        optimizer.step()


def chunks(model, loader, optimizer, criterion, pieces):
    for images, labels in loader:
        optimizer.zero_grad()
        for image, label in zip(images.chunk(pieces), labels.chunk(pieces)):
            criterion(model(image), label).backward()  # expect: PLM058
        optimizer.step()


def attack(model, loader, optimizer, criterion, turns):
    for images, labels in loader:
        shift = torch.zeros_like(images, requires_grad=True)
        for _ in range(turns):
            model.zero_grad()
            # trap: cleared in each turn, nothing adds up
            criterion(model(images + shift), labels).backward()
            shift.data += shift.grad.sign()
        optimizer.step()


def several(model, loader, optimizer, criteria):
    for images, labels in loader:
        outputs = model(images)
        optimizer.zero_grad()
        for criterion in criteria:
            # trap: several losses of one forward
            criterion(outputs, labels).backward(retain_graph=True)
        optimizer.step()


def epochs(model, loader, update, optimizer, others, count):
    for _ in range(count):
        for images in loader:
            # trap: the step is taken by what is handed in
            update(model(images).sum().backward())
        for images in others:
            model(images).sum().backward()
            optimizer.step()
