import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch import nn


class Listing(pl.LightningModule):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Linear(width, width).cuda()
        self.seen, self.kept, self.counts = [], [], []
        self.table = {"logits": []}

    def validation_step(self, batch, index):
        x, y = batch
        logits = self.net(x)
        self.seen += [logits]  # expect: PLM003
        self.table["logits"].append(logits)  # expect: PLM003
        self.keep(logits, y)
        # trap: on the host
        self.seen += [logits.cpu()]
        # trap: a number
        self.counts += [F.cross_entropy(logits, y)]
        self.count(logits)

    def keep(self, logits, y):
        self.kept.append((logits, y))  # expect: PLM003

    def count(self, logits):
        # trap: of what it is handed, a number
        self.counts.append(logits.argmax(1).sum())

    def training_step(self, batch, index):
        x, y = batch
        return F.cross_entropy(self.net(x), y)


class Returning(pl.LightningModule):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Linear(width, width)

    def validation_step(self, batch, index):
        x, y = batch
        logits = self.net(x)
        loss = F.cross_entropy(logits, y)
        return {"loss": loss, "logits": logits, "hits": (logits.argmax(1) == y).sum()}  # expect: PLM003

    def validation_epoch_end(self, outs):
        return torch.cat([one["logits"] for one in outs]).std()

    def test_step(self, batch, index):
        # trap: nothing collects what it returns
        return self.net(batch[0])
