import torch
import torch.nn.functional as F
from diffusers import DiffusionPipeline, UNet2DConditionModel


def show(unet, name):
    return DiffusionPipeline.from_pretrained(name, unet=unet)("a cat").images


def groups_of(unet):
    return [{"params": unet.parameters()}]


def invert(name, loader, words, chosen):
    denoiser = UNet2DConditionModel.from_pretrained(name, subfolder="unet")
    optimizer = chosen([words], lr=5e-4)
    for noisy, noise, steps in loader:
        loss = F.mse_loss(denoiser(noisy, steps, words).sample, noise)  # expect: PLM066
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    show(denoiser, name)


def tune(name, loader, words, chosen):
    unet = UNet2DConditionModel.from_pretrained(name, subfolder="unet")
    optimizer = chosen(groups_of(unet), lr=5e-4)
    for noisy, noise, steps in loader:
        # trap: the function hands out its parameters
        loss = F.mse_loss(unet(noisy, steps, words).sample, noise)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def tune_prepared(name, loader, words, optimizer, accelerator):
    model = UNet2DConditionModel.from_pretrained(name, subfolder="unet")
    wrapped = accelerator.prepare(model)
    for noisy, noise, steps in loader:
        # trap: who prepares it may train it
        loss = F.mse_loss(model(noisy, steps, words).sample, noise)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
    return wrapped
