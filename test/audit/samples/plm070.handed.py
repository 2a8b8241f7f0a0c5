from typing import Dict

import numpy as np
import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch import nn


def losses_of(model, batch):
    src, tgt = batch
    out = model(src)
    return F.cross_entropy(out, tgt), out


def from_a_helper(model, loader, optimizer, device):
    for src, tgt in loader:
        loss, out = losses_of(model, (src.to(device), tgt.to(device)))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        half = out[np.random.permutation(8)]  # expect: PLM070


def moved(batches, device):
    for src, tgt in batches:
        yield src.to(device, non_blocking=True), tgt.to(device, non_blocking=True)


def from_a_generator(model, loader, optimizer, device):
    for src, tgt in moved(loader, device):
        F.cross_entropy(model(src), tgt).backward()
        optimizer.step()
        optimizer.zero_grad()
        few = tgt[[0, 2, 4]]  # expect: PLM070


class Engine:
    def __init__(self, net: nn.Module, device: str = "cuda"):
        self.device = torch.device(device)
        self.net = net.to(self.device)
        self.opt = torch.optim.Adam(net.parameters())

    def prepare(self, batch) -> Dict[str, torch.Tensor]:
        return {"x": batch[0].to(self.device), "y": batch[1].to(self.device)}

    def step(self, batch: Dict[str, torch.Tensor]):
        loss = F.mse_loss(self.net(batch["x"]), batch["y"])
        loss.backward()
        self.opt.step()
        self.opt.zero_grad()
        few = batch["y"][[0, 1]]  # expect: PLM070

    def train(self, loader):
        for raw in loader:
            self.step(self.prepare(raw))


class Tagger(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        few = batch[1][[0, 1]]  # expect: PLM070
        return F.cross_entropy(self(batch[0]), batch[1])


def on_the_host(model, loader, optimizer, device):
    for src, tgt in loader:
        # trap: not moved yet
        few = src[[0, 2, 4]]
        F.cross_entropy(model(src.to(device)), tgt.to(device)).backward()
        optimizer.step()
        optimizer.zero_grad()
