import torch
from torch.nn import functional as F


def tune(net, frozen, words, loader, optimizer, accelerator):
    frozen.requires_grad_(False)
    nothing = frozen(words)[0]
    for latents in loader:
        noise = torch.randn_like(latents)
        given = net(latents + noise, nothing.to(latents.dtype)).sample
        loss = F.mse_loss(given, noise)
        accelerator.backward(loss, retain_graph=True)  # expect: PLM007
        optimizer.step()
        optimizer.zero_grad()


def through(net, encoder, words, loader, optimizer, accelerator):
    nothing = encoder(words)[0]
    for latents in loader:
        noise = torch.randn_like(latents)
        given = net(latents + noise, nothing.to(latents.dtype)).sample
        loss = F.mse_loss(given, noise)
        # trap: every turn goes back through the run before the loop
        accelerator.backward(loss, retain_graph=True)
        optimizer.step()
        optimizer.zero_grad()


def each(nets, optimizers, losses, images):
    parts = [loss(nets(images)) for loss in losses]
    for optimizer, part in zip(optimizers, parts):
        optimizer.zero_grad()
        # trap: the parts are of one run
        part.backward(retain_graph=True)
        optimizer.step()


def chunks(net, loader, optimizer):
    for text in loader:
        net.memory = None
        for part in text.cuda().split(64, dim=1):
            scores = net(part)
            (scores.mean() + scores.var()).backward(retain_graph=True)  # trap: the network keeps a memory
            optimizer.step()
            optimizer.zero_grad()
