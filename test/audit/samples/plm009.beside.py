import torch
import torch.nn.functional as F
from torchvision.utils import save_image


def rebuild(model, loader, optimizer):
    model.train()
    for images, _ in loader:
        loss, recon = model(images.cuda())  # expect: PLM009
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(recon.std().item())


def listen(judge, generator, loader, optimizer):
    for mel, wave in loader:
        ours = judge(generator(mel.cuda()))
        fmaps = [maps for maps, _ in ours]  # expect: PLM009
        loss = sum(score.mean() for _, score in ours)
        for maps in fmaps:
            loss = loss + maps[0].abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def noise_losses(net, x):
    terms = {}
    out = net(x)
    terms["loss"] = (out - x).square().mean()
    terms["out"] = out  # expect: PLM009
    return terms


def noise_loss_terms(net, x):
    terms = {}
    out = net(x)
    terms["loss"] = (out - x).square().mean()
    # trap: a number
    terms["size"] = out.mean()
    return terms


def deleted(model, loader, optimizer):
    for images, _ in loader:
        # trap: it is gone before the next forward
        loss, recon = model(images.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        save_image(recon[:4], "recon.png")
        del recon


def kept(model, loader, optimizer, bank):
    for images, _ in loader:
        # trap: another has it as well, for as long as it wants
        loss, recon = model(images.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        bank.add(recon)


def parts(model, loader, optimizer):
    for images, _ in loader:
        # trap: a part of the loss is a number
        loss, loss_recon = model(images.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss_recon.item())
