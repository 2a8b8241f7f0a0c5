import lightning as L
import torch


class Reader(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.average = 0.0
        self.shown = 0.0

    def training_step(self, batch, batch_idx):
        images = list()
        for one in batch:
            images.append(one[0])
        loss = self.model(torch.cat(images))[0]
        self.average = 0.98 * self.average + 0.02 * loss  # expect: PLM018
        # trap: cut off
        self.shown = 0.98 * self.shown + 0.02 * loss.detach()
        return loss
