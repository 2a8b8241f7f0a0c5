import argparse
import itertools

import torch
from diffusers import AutoencoderKL, UNet2DConditionModel
from torch.nn import functional as F
from transformers import CLIPTextModel


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--learn_words", action="store_true")
    parser.add_argument("--keep_words", action="store_true")
    return parser.parse_args()


def left_out(loader):
    args = options()
    words = CLIPTextModel.from_pretrained("words").cuda()
    pixels = AutoencoderKL.from_pretrained("pixels").cuda()
    painter = UNet2DConditionModel.from_pretrained("painter").cuda()
    pixels.requires_grad_(False)
    learned = list(painter.parameters())
    if args.learn_words:
        learned += list(words.parameters())
    optimizer = torch.optim.AdamW(learned, lr=1e-5)
    for ids, noisy, noise, when in loader:
        # trap: only looked at
        shown = words(ids.cuda())[0].detach()
        told = words(ids.cuda())[0]  # expect: PLM066
        loss = F.mse_loss(painter(noisy.cuda(), when.cuda(), told).sample, noise.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(shown.shape)


def chained(loader):
    args = options()
    lines = CLIPTextModel.from_pretrained("words").cuda()
    painter = UNet2DConditionModel.from_pretrained("painter").cuda()
    learned = (
        itertools.chain(painter.parameters(), lines.parameters()) if args.learn_words else painter.parameters()
    )
    optimizer = torch.optim.AdamW(learned, lr=1e-5)
    for ids, noisy, noise, when in loader:
        told = lines(ids.cuda())[0]  # expect: PLM066
        loss = F.mse_loss(painter(noisy.cuda(), when.cuda(), told).sample, noise.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def frozen(loader):
    args = options()
    tags = CLIPTextModel.from_pretrained("words").cuda()
    painter = UNet2DConditionModel.from_pretrained("painter").cuda()
    if not args.learn_words:
        tags.requires_grad_(False)
    learned = list(painter.parameters())
    if args.learn_words:
        learned += list(tags.parameters())
    optimizer = torch.optim.AdamW(learned, lr=1e-5)
    for ids, noisy, noise, when in loader:
        # trap: frozen where it does not learn
        told = tags(ids.cuda())[0]
        loss = F.mse_loss(painter(noisy.cuda(), when.cuda(), told).sample, noise.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def learns(loader):
    args = options()
    texts = CLIPTextModel.from_pretrained("words").cuda()
    painter = UNet2DConditionModel.from_pretrained("painter").cuda()
    learned = list(painter.parameters())
    if not args.keep_words:
        learned += list(texts.parameters())
    optimizer = torch.optim.AdamW(learned, lr=1e-5)
    for ids, noisy, noise, when in loader:
        # trap: in the optimizer, unless somebody says otherwise
        told = texts(ids.cuda())[0]
        loss = F.mse_loss(painter(noisy.cuda(), when.cuda(), told).sample, noise.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def unrecorded(loader):
    args = options()
    names = CLIPTextModel.from_pretrained("words").cuda()
    painter = UNet2DConditionModel.from_pretrained("painter").cuda()
    learned = list(painter.parameters())
    if args.learn_words:
        learned += list(names.parameters())
    optimizer = torch.optim.AdamW(learned, lr=1e-5)
    for ids, noisy, noise, when in loader:
        with torch.set_grad_enabled(args.learn_words):
            # trap: records with the option alone
            told = names(ids.cuda())[0]
        loss = F.mse_loss(painter(noisy.cuda(), when.cuda(), told).sample, noise.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
