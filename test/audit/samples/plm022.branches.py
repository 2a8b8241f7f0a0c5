import torch
from torch.nn import functional as F


def train(net, loader, optimizer, scaler, half, parts):
    for step, (images, labels) in enumerate(loader):
        with torch.autocast("cuda", enabled=half):
            loss = F.cross_entropy(net(images.cuda()), labels.cuda())
        loss = loss / parts
        if half:
            scaler.scale(loss).backward()
            if (step + 1) % parts == 0:
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad()
        else:
            if step % parts == 0:  # expect: PLM022
                optimizer.zero_grad()
            loss.backward()
            if (step + 1) % parts == 0:
                optimizer.step()


def apart(net, loader, optimizer, scaler, half, parts):
    for step, (images, labels) in enumerate(loader):
        if half:
            with torch.autocast("cuda"):
                loss = F.cross_entropy(net(images.cuda()), labels.cuda())
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
        else:
            # trap: before this branch's own forward
            if step % parts == 0:
                optimizer.zero_grad()
            loss = F.cross_entropy(net(images.cuda()), labels.cuda())
            loss.backward()
            if (step + 1) % parts == 0:
                optimizer.step()


def switched(net, loader, optimizer, own):
    for images, labels in loader:
        loss = F.cross_entropy(net(images.cuda()), labels.cuda())
        if own:  # expect: PLM022
            optimizer.zero_grad()
        else:
            net.zero_grad()
        loss.backward()
        optimizer.step()


def switched_above(net, loader, optimizer, own):
    for images, labels in loader:
        # trap: above the forward
        if own:
            optimizer.zero_grad()
        else:
            net.zero_grad()
        loss = F.cross_entropy(net(images.cuda()), labels.cuda())
        loss.backward()
        optimizer.step()
