import torch
from torch.utils.data import DataLoader


def on_gpu(device):
    return device.startswith("cuda")


def at_random(device):
    return device.endswith("0")


def step(net, images, optimizer):
    net(images).mean().backward()
    optimizer.step()
    optimizer.zero_grad()


def by_function(rows, net, optimizer, device):
    loader = DataLoader(rows, pin_memory=on_gpu(device))
    for images in loader:
        images = images.to(device)  # expect: PLM037
        step(net, images, optimizer)


def by_setting(rows, net, optimizer, args):
    use_cuda = torch.cuda.is_available() and not args.no_cuda
    loader = DataLoader(rows, pin_memory=use_cuda)
    for images in loader:
        images = images.cuda()  # expect: PLM037
        step(net, images, optimizer)


def not_said(rows, net, optimizer, device):
    loader = DataLoader(rows, pin_memory=at_random(device))
    for images in loader:
        # trap: what the function asks is something else
        images = images.to(device)
        step(net, images, optimizer)


def wanted(rows, net, optimizer, args):
    loader = DataLoader(rows, pin_memory=torch.cuda.is_available() and args.pin)
    for images in loader:
        # trap: a setting may say no
        images = images.cuda()
        step(net, images, optimizer)
