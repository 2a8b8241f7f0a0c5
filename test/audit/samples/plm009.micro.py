"""A diffusion trainer of micro-batches: of what came with the losses only the last is looked at, below their loop."""

import torch
from torch import nn


class Diffusion(nn.Module):
    def __init__(self, denoise_fn):
        super().__init__()
        self.denoise_fn = denoise_fn

    def forward(self, x, return_pred=False):
        noise = torch.randn_like(x)
        x_recon = self.denoise_fn(x + noise)
        loss = (noise - x_recon).abs().mean()
        if return_pred:
            return loss, x_recon
        return loss


class Trainer:
    def __init__(self, loader, opt):
        self.model = Diffusion(nn.Conv3d(3, 3, 3, padding=1)).cuda()
        self.dl = loader
        self.opt = opt

    def train(self, steps, every):
        for step in range(steps):
            for _ in range(every):
                loss, pred = self.model(next(self.dl).cuda(), return_pred=True)  # expect: PLM009
                (loss / every).backward()
            print({"loss": loss.item(), "pred_std": pred.std().item()})
            self.opt.step()
            self.opt.zero_grad()

    def train_epochs(self, epochs):
        for epoch in range(epochs):
            for clip in self.dl:
                loss, x_recon = self.model(clip.cuda(), return_pred=True)  # expect: PLM009
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
            print(epoch, x_recon.mean().item())

    def train_and_draw(self, epochs, draw):
        for epoch in range(epochs):
            for clip in self.dl:
                # trap: what the last turn made is drawn
                loss, x_recon = self.model(clip.cuda(), return_pred=True)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
            draw(epoch, x_recon)

    def train_told(self, steps, every):
        for step in range(steps):
            for _ in range(every):
                # trap: a number is all that is kept
                loss, pred = self.model(next(self.dl).cuda(), return_pred=True)
                (loss / every).backward()
                spread = pred.std().item()
                del pred
            print(spread)
            self.opt.step()
            self.opt.zero_grad()
