import torch
from diffusers import AutoencoderKL, UNet2DModel

vae = AutoencoderKL.from_pretrained("vae").to("cuda")
frozen_vae = AutoencoderKL.from_pretrained("vae").to("cuda")
frozen_vae.requires_grad_(False)
trained_vae = AutoencoderKL.from_pretrained("vae").to("cuda")
unet = UNet2DModel().to("cuda")
unet.train()
optimizer = torch.optim.AdamW([*unet.parameters(), *trained_vae.parameters()], fused=True)


def train(loader):
    for batch in loader:
        images = batch["image"].to("cuda")
        latents = vae.encode(images).latent_dist.sample()  # expect: PLM020
        # trap: frozen, it records nothing
        more = frozen_vae.encode(images).latent_dist.sample()
        # trap: in the optimizer
        learned = trained_vae.encode(images).latent_dist.sample()
        loss = unet(latents + more + learned, 0).sample.pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
