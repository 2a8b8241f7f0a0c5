import pytorch_lightning as pl
import torch
from torch import nn


class Noised(pl.LightningModule):
    def __init__(self, net, schedule, judge, place):
        super().__init__()
        self.net = net
        self.kept = schedule.kept().to(self.device)
        self.there = schedule.kept().to(place)
        self.judge = judge.build().to(self.device)
        self.pool = nn.AvgPool2d(2).to(self.device)
        self.late = schedule.kept().to(self.device)

    def on_fit_start(self):
        self.late = self.late.to(self.device)

    def training_step(self, batch, batch_idx):
        x, t = batch
        share = self.kept.to(x.device)[t]  # expect: PLM042
        # trap: sent where it was told
        share = share + self.there.to(x.device)[t]
        # trap: sent there once, when the training begins
        share = share + self.late.to(x.device)[t]
        # trap: networks move with the module
        worth = self.judge.to(x.device)(self.pool.to(x.device)(x))
        return (self.net(x * share) * worth).mean()
