import torch
import torch.nn.functional as F
from diffusers import UNet2DConditionModel
from transformers import CLIPTextModel
from viewing import join, preview


def paint(args, loader):
    reader = CLIPTextModel.from_pretrained(args.path, subfolder="text_encoder").cuda()
    unet = UNet2DConditionModel.from_pretrained(args.path, subfolder="unet").cuda()
    if args.small:
        import bitsandbytes as bnb

        optimizer_class = bnb.optim.AdamW8bit
    else:
        optimizer_class = torch.optim.AdamW
    optimizer = optimizer_class(unet.parameters(), lr=args.lr)
    for noisy, noise, steps, ids in loader:
        words = reader(ids.cuda())[0]  # expect: PLM066
        loss = F.mse_loss(unet(noisy, steps, words).sample, noise)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    preview(reader, unet)


def by_condition(args, loader):
    tutor = CLIPTextModel.from_pretrained(args.path, subfolder="text_encoder").cuda()
    painter = UNet2DConditionModel.from_pretrained(args.path, subfolder="unet").cuda()
    opt_cls = torch.optim.SGD if args.plain else torch.optim.AdamW
    optimizer = opt_cls(painter.parameters(), lr=args.lr)
    for noisy, noise, steps, ids in loader:
        words = tutor(ids.cuda())[0]  # expect: PLM066
        loss = F.mse_loss(painter(noisy, steps, words).sample, noise)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    preview(tutor, painter)


def by_another(args, loader, optimizer_class):
    poet = CLIPTextModel.from_pretrained(args.path, subfolder="text_encoder").cuda()
    brush = UNet2DConditionModel.from_pretrained(args.path, subfolder="unet").cuda()
    joined = join(poet, brush)
    # trap: what a class that is handed in makes, or is given, nobody knows here
    optimizer = optimizer_class(joined.parameters(), lr=args.lr)
    for noisy, noise, steps, ids in loader:
        words = poet(ids.cuda())[0]
        loss = F.mse_loss(brush(noisy, steps, words).sample, noise)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def by_list(args, loader):
    scribe = CLIPTextModel.from_pretrained(args.path, subfolder="text_encoder").cuda()
    drawer = UNet2DConditionModel.from_pretrained(args.path, subfolder="unet").cuda()
    optimizer_cls = torch.optim.AdamW if args.plain else torch.optim.SGD
    frozen = [scribe]
    for net in frozen:
        net.requires_grad_(False)
    optimizer = optimizer_cls(drawer.parameters(), lr=args.lr)
    for noisy, noise, steps, ids in loader:
        # trap: frozen in turn, by a list that has a name
        words = scribe(ids.cuda())[0]
        loss = F.mse_loss(drawer(noisy, steps, words).sample, noise)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
