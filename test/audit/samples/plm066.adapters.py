import torch

from lora import LoRANetwork


def attached(unet, loader):
    unet.to("cuda").eval()
    network = LoRANetwork(unet, rank=4)  # expect: PLM066
    optimizer = torch.optim.Adam(network.parameters())
    for x in loader:
        loss = unet(x).mean()
        loss.backward()
        optimizer.step()


def frozen(unet, loader):
    unet.requires_grad_(False)
    # trap: its own parameters are off
    network = LoRANetwork(unet, rank=4)
    optimizer = torch.optim.Adam(network.parameters())
    for x in loader:
        loss = unet(x).mean()
        loss.backward()
        optimizer.step()


def whole(unet, loader):
    # trap: it learns as well
    network = LoRANetwork(unet, rank=4)
    optimizer = torch.optim.Adam([*network.parameters(), *unet.parameters()])
    for x in loader:
        loss = unet(x).mean()
        loss.backward()
        optimizer.step()


def handed(unet, freeze, loader):
    freeze(unet)
    # trap: by its name, somebody froze it
    network = LoRANetwork(unet, rank=4)
    optimizer = torch.optim.Adam(network.parameters())
    for x in loader:
        loss = unet(x).mean()
        loss.backward()
        optimizer.step()
