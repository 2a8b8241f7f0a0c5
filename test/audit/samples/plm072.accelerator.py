import torch
from torch.utils.data import DataLoader

use_accel = torch.accelerator.is_available()
device = torch.accelerator.current_accelerator() if use_accel else torch.device("cpu")
kwargs = {"num_workers": 1, "pin_memory": True} if use_accel else {}
others = {"num_workers": 1, "pin_memory": True} if not use_accel else {}


def train(data, model, optimizer):
    loader = DataLoader(data, batch_size=64, **kwargs)
    for images, labels in loader:
        images = torch.cat((images, 1 - images)).to(device)  # expect: PLM072
        (model(images).sum() + labels.sum()).backward()
        optimizer.step()
        optimizer.zero_grad()


def train_asked(data, model, optimizer):
    loader = DataLoader(data, batch_size=64, pin_memory=torch.accelerator.is_available())
    for images, labels in loader:
        images = torch.cat((images, 1 - images)).to(device)  # expect: PLM072
        (model(images).sum() + labels.sum()).backward()
        optimizer.step()
        optimizer.zero_grad()


def train_plain(data, model, optimizer):
    loader = DataLoader(data, batch_size=64, **others)
    for images, labels in loader:
        # trap: pinned where there is no device
        images = torch.cat((images, 1 - images)).to(device)
        (model(images).sum() + labels.sum()).backward()
        optimizer.step()
        optimizer.zero_grad()


def train_moved(data, model, optimizer):
    loader = DataLoader(data, batch_size=64, **kwargs)
    for images, labels in loader:
        images = images.to(device, non_blocking=True)
        # trap: joined on the device
        images = torch.cat((images, 1 - images))
        (model(images).sum() + labels.sum()).backward()
        optimizer.step()
        optimizer.zero_grad()


def train_kept(data, model, optimizer):
    loader = DataLoader(data, batch_size=64, **kwargs)
    for images, labels in loader:
        # trap: it stays on the host
        both = torch.cat((images, 1 - images))
        (model(images.to(device, non_blocking=True)).sum() + labels.sum()).backward()
        optimizer.step()
        optimizer.zero_grad()
        print(both.shape)
