"""A loss handed to a method that differentiates it, and parameters listed by a method."""

import itertools

import lightning as L
import torch


class Diffusion:
    def __init__(self, model, vgg, frozen, device):
        self.model, self.device = model, device
        self.vgg_net = vgg.to(device)
        self.fixed_net = frozen.to(device).requires_grad_(False)
        self.optimizer = torch.optim.AdamW(self.model.parameters())
        self.scheduler = torch.optim.lr_scheduler.OneCycleLR(self.optimizer, 0.1, total_steps=10)
        self.mse = torch.nn.MSELoss()

    def train_step(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def one_epoch(self, loader):
        for x in loader:
            y = self.model(x.to(self.device))
            loss = self.mse(self.vgg_net(y), self.fixed_net(y))  # expect: PLM066
            # trap: fixed_net is frozen
            self.train_step(loss)


class Guided(L.LightningModule):
    def __init__(self, net, judge_model, noise):
        super().__init__()
        self.net, self.judge_model, self.noise = net, judge_model, noise

    def _listed(self):
        return itertools.chain(self.net.parameters(), self.noise.parameters())

    def training_step(self, batch, batch_idx):
        out = self.net(batch)  # trap: it is optimised
        return out.mean() - self.judge_model(out).mean()  # expect: PLM066

    def configure_optimizers(self):
        return torch.optim.AdamW(self._listed())
