"""Pictures that a module of Lightning draws between its steps."""

import lightning as L
import torch
import torchvision
from torch import nn


class Drawn(L.LightningModule):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Linear(width, width)
        self.judge = nn.Linear(width, 1)
        self.noise = torch.randn(8, width)

    def forward(self, z):
        return self.net(z)

    def training_step(self, batch, _):
        return -self.judge(self(batch)).mean()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())

    def on_train_epoch_end(self):
        images = self(self.noise.to(self.device))  # expect: PLM019
        grid = torchvision.utils.make_grid(images)
        self.logger.experiment.add_image("drawn", grid, self.current_epoch)

    def on_validation_epoch_end(self):
        # trap: Lightning records nothing around a validation
        images = self(self.noise.to(self.device))
        self.logger.experiment.add_image("valid", torchvision.utils.make_grid(images), self.current_epoch)


class Careful(Drawn):
    def on_train_epoch_end(self):
        with torch.no_grad():
            # trap: nothing is recorded
            images = self(self.noise.to(self.device))
        self.logger.experiment.add_image("drawn", torchvision.utils.make_grid(images), self.current_epoch)


class Counting(Drawn):
    def on_train_epoch_end(self):
        # trap: nothing is run
        self.logger.experiment.add_image("noise", torchvision.utils.make_grid(self.noise), self.current_epoch)
