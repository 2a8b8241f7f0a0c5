import lightning as L
import torch
import torch.nn.functional as F
import wandb
from torchvision.utils import make_grid


def draw(pictures, title):
    grid = make_grid(pictures, nrow=4)
    return wandb.Image(grid, caption=title)


class Denoiser(L.LightningModule):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def training_step(self, batch, batch_idx):
        return self.step(batch)

    def step(self, batch):
        noisy, noise = batch
        out = self.net(noisy)
        self.drawn = out  # expect: PLM004
        self.told = out  # expect: PLM004
        # trap: the helper makes a part of the loss of it
        self.smoothed = out
        # trap: the logarithm is part of the loss
        self.chances = out.sigmoid()
        # trap: the helper hands it to others
        self.shared = out
        return F.mse_loss(out, noise) + self.rough() + self.surprise()

    def picture(self, x, caption):
        return wandb.Image(make_grid(x, nrow=4).permute(1, 2, 0).cpu().numpy(), caption=caption)

    def rough(self):
        return self.smoothness(self.smoothed)

    def smoothness(self, x):
        return x.diff(dim=-1).abs().mean()

    def surprise(self):
        return -torch.log(self.chances).mean()

    def hand_on(self, x):
        self.trainer.callback.take(x)

    def on_train_epoch_end(self):
        self.logger.experiment.log({"out": self.picture(self.drawn, caption="out")})
        self.logger.experiment.log({"spread": self.told.abs().std(), "size": self.told.norm()})
        self.hand_on(self.shared)
