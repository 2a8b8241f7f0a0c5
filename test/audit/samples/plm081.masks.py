"""Masks that are made as wide as what they hide."""

import torch
import torch.nn.functional as F


def train(net, loader, optimizer, device):
    for images, mask in loader:
        images = images.to(device)
        mask = mask.to(device)
        out = net(images)
        wide = mask.unsqueeze(1).expand_as(out).float()  # expect: PLM081
        loss = (out * wide).mean()
        loss = loss + (out * (mask > 0).unsqueeze(1).expand_as(out).to(out.dtype)).mean()  # expect: PLM081
        # trap: converted first, it stays a view
        view = mask.float().unsqueeze(1).expand_as(out)
        loss = loss + (out * view).mean()
        # trap: it is written into
        kept = mask.unsqueeze(1).expand_as(out).float()
        kept[:, 0] = 1
        loss = loss + (out * kept).mean()
        # trap: of that type already, for all that is known
        scale = images.mean(1, keepdim=True).expand_as(out).float()
        loss = loss + (out * scale).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def fit(net, loader, optimizer, device):
    for images, labels in loader:
        images = images.to(device)
        loss = F.cross_entropy(net(images.clone()), labels.to(device))  # expect: PLM081
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def attack(net, loader, optimizer, device):
    for pictures, labels in loader:
        pictures = pictures.to(device)
        # trap: the copy learns
        moved = pictures.clone().requires_grad_()
        loss = F.cross_entropy(net(moved), labels.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def paint(net, loader, optimizer, device):
    for sheets, labels in loader:
        sheets = sheets.to(device)
        # trap: the batch is written into afterwards
        loss = F.cross_entropy(net(sheets.clone()), labels.to(device))
        sheets.clamp_(0, 1)
        optimizer.zero_grad()
        (loss + net(sheets).mean()).backward()
        optimizer.step()


def rows(net, offset, loader, optimizer, device):
    for images in loader:
        images = images.to(device)
        # trap: for a network, which may want as many rows as it is given of the others
        many = torch.stack([offset] * images.size(0))
        loss = net(images, many).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
