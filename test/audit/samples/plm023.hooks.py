import lightning.pytorch as pl
import torch
from nets import Tower


class ByHand(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = Tower()

    def training_step(self, batch, index):
        opt = self.optimizers()
        opt.zero_grad()  # expect: PLM023
        self.manual_backward(self.net(batch).mean())
        opt.step()

    def validation_step(self, batch, index):
        self.log("score", self.net(batch).mean())


class ClearedAfter(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = Tower()

    def training_step(self, batch, index):
        opt = self.optimizers()
        self.manual_backward(self.net(batch).mean())
        opt.step()
        # trap: nothing is left for validation
        opt.zero_grad()

    def validation_step(self, batch, index):
        self.log("score", self.net(batch).mean())


class Unvalidated(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = Tower()

    def training_step(self, batch, index):
        opt = self.optimizers()
        # trap: nothing runs between two steps
        opt.zero_grad()
        self.manual_backward(self.net(batch).mean())
        opt.step()


class ClearedFirst(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = Tower()

    def training_step(self, batch, index):
        opt = self.optimizers()
        opt.zero_grad()
        self.manual_backward(self.net(batch).mean())
        opt.step()

    def on_validation_start(self):
        # trap: cleared before validation begins
        self.optimizers().zero_grad()

    def validation_step(self, batch, index):
        self.log("score", self.net(batch).mean())
