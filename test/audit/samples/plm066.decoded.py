"""What is in no optimizer, handed to a function that sends through it what learns."""

import torch
import torch.nn.functional as F
from diffusers import AutoencoderKL


def decode(vae, latents):
    return vae.decoder(vae.post_quant_conv(latents))


def looked_at(vae, latents):
    with torch.no_grad():
        return vae.decoder(latents)


def train(unet, loader, name):
    vae = AutoencoderKL.from_pretrained(name).cuda()
    frozen = AutoencoderKL.from_pretrained(name).cuda()
    vae.eval()
    frozen.eval()
    frozen.requires_grad_(False)
    optimizer = torch.optim.AdamW(unet.parameters())
    for x, target in loader:
        made = unet(x)
        picture = decode(vae, made)  # expect: PLM066
        # trap: frozen by its flags
        other = decode(frozen, made)
        # trap: nothing is recorded
        shown = looked_at(vae, made)
        loss = F.mse_loss(picture, target) + F.mse_loss(other, target) + F.mse_loss(shown, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def train_loaded(unet, loader, name):
    vae = AutoencoderKL.from_pretrained(name).to("cuda")
    optimizer = torch.optim.AdamW(unet.parameters())
    for x, target in loader:
        loss = F.mse_loss(decode(vae, unet(x)), target)  # expect: PLM066
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def train_both(unet, loader, name):
    painter = AutoencoderKL.from_pretrained(name).to("cuda")
    optimizer = torch.optim.AdamW([*unet.parameters(), *painter.parameters()])
    for x, target in loader:
        # trap: it learns too
        loss = F.mse_loss(decode(painter, unet(x)), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
