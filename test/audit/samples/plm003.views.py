"""What a network gives for several views of a batch."""

import torch

device = torch.device("cuda")


@torch.no_grad()
def mirrored(model, val_loader, flip):
    model.eval()
    kept, halves, shown = [], [], []
    for images, _ in val_loader:
        images = images.to(device)
        out = model(images)
        if flip:
            out += model(images.flip(3))
        kept.append(out)  # expect: PLM003
        halves.append((model(images) + model(images.flip(3))) / 2)  # expect: PLM003
        # trap: on the host
        shown.append(((model(images) + model(images.flip(3))) / 2).cpu())
    return torch.cat(kept), torch.cat(halves), torch.cat(shown)


@torch.no_grad()
def shifted(model, val_loader, views):
    model.eval()
    kept, means, right, errors = [], [], [], []
    for images, target in val_loader:
        images, target = images.to(device), target.to(device)
        total = 0
        for view in views:
            total = total + model(view(images))
        total /= len(views)
        kept.append(total)  # expect: PLM003
        means.append(torch.stack([model(images), model(images.flip(3))]).mean(0))  # expect: PLM003
        # trap: one number an example
        right.append(total.argmax(1) == target)
        # trap: one number for all
        errors.append((total - target).abs().mean())
    return kept, means, right, errors


@torch.no_grad()
def averaged(model, val_loader):
    model.eval()
    rows = []
    for images, _ in val_loader:
        # trap: the average of each image is no row of classes
        rows.append(torch.stack([model(images.to(device)), model(images.flip(3).to(device))]).mean(2).mean(1))
    return rows
