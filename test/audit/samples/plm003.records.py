import pytorch_lightning as pl
import torch
import torch.nn.functional as F


class Lit(pl.LightningModule):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.records = []
        self.figures = []

    def training_step(self, batch, index):
        images, labels = batch
        return F.cross_entropy(self.net(images), labels)

    def validation_step(self, batch, index):
        images, labels = batch
        scores = self.net(images)
        record = {"scores": scores, "labels": labels}  # expect: PLM003
        self.records.append(record)
        # trap: numbers
        figures = {"loss": F.cross_entropy(scores, labels).item()}
        self.figures.append(figures)


class Keeping(pl.Callback):
    def __init__(self):
        self.kept, self.losses, self.hosted = [], [], []

    def on_validation_batch_end(self, trainer, module, outputs, batch, index):
        self.kept.append(outputs["logits"])  # expect: PLM003
        # trap: a number
        self.losses.append(outputs["loss"])
        # trap: on the host
        self.hosted.append(outputs["logits"].cpu())

    def on_train_batch_end(self, trainer, module, outputs, batch, index):
        # trap: no evaluation
        self.kept.append(outputs["logits"])


@torch.no_grad()
def both_ways(net, loader):
    kept = []
    for images in loader:
        first, second = net(images.cuda()), net(images.cuda().flip(3))
        kept.append(torch.cat([first, second], 1))  # expect: PLM003
    return kept


def train(net, loader, optimizer):
    for images, labels in loader:
        F.cross_entropy(net(images.cuda()), labels.cuda()).backward()
        optimizer.step()
        optimizer.zero_grad()
