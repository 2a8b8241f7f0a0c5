import torch
from diffusers import StableDiffusionPipeline, UNet2DConditionModel
from torch.nn import functional as F


def teach(base, loader, device):
    parts = StableDiffusionPipeline.from_pretrained(base).to(device)
    painter = UNet2DConditionModel.from_pretrained(base, subfolder="unet").to(device)
    optimizer = torch.optim.SGD(painter.parameters(), lr=1e-5)
    nothing = parts.tokenizer("", return_tensors="pt").input_ids.to(device)
    for latents, ids, steps in loader:
        with torch.no_grad():
            said = parts.text_encoder(ids)[0] - parts.text_encoder(nothing)[0]  # expect: PLM080
            # trap: this one is in an optimizer below.
            picture = parts.image_encoder(nothing)[0]
        loss = F.mse_loss(painter(latents, steps, said + picture).sample, latents)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def teach_pictures(base, loader, device):
    parts = StableDiffusionPipeline.from_pretrained(base).to(device)
    optimizer = torch.optim.SGD(parts.image_encoder.parameters(), lr=1e-5)
    for images, wanted in loader:
        loss = F.mse_loss(parts.image_encoder(images)[0], wanted)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def teach_whole(whole, loader, anchor, device):
    # trap: the part learns with its whole.
    optimizer = torch.optim.SGD(whole.parameters(), lr=1e-5)
    for images, wanted in loader:
        with torch.no_grad():
            before = whole.backbone(anchor)
        loss = F.mse_loss(whole(images), wanted) + before.mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
