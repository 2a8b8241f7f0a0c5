"""Clocks that a framework's hooks read."""

import time

import pytorch_lightning as pl
import torch


class Paced(pl.LightningModule):
    def training_step(self, batch, index):
        loss = self.net(batch).mean()
        if self.global_step % 500 == 0:
            self.logger.experiment.add_image("made", batch[0].cpu())
        return loss

    def on_train_batch_start(self, *args):
        self.begun = time.time()

    def on_train_batch_end(self, *args):
        self.log("seconds", time.time() - self.begun)  # expect: PLM083
        self.rate = float(self.trainer.global_step) / 2

    def validation_step(self, batch, index):
        self.seen.append(self.net(batch).cpu())


class Waiting(pl.LightningModule):
    def training_step(self, batch, index):
        return self.net(batch).mean()

    def on_train_batch_start(self, *args):
        self.begun = time.time()

    def on_train_batch_end(self, *args):
        torch.cuda.synchronize()
        # trap: waited for here
        self.log("seconds", time.time() - self.begun)


class Reading(pl.LightningModule):
    def training_step(self, batch, index):
        loss = self.net(batch).mean()
        self.shown = self.tell(loss)
        return loss

    def tell(self, loss):
        return f"{loss.item():.3f}"

    def on_train_batch_start(self, *args):
        self.begun = time.time()

    def on_train_batch_end(self, *args):
        # trap: every step reads its loss
        self.log("seconds", time.time() - self.begun)
