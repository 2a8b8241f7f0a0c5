import pytorch_lightning as pl
import torch


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
        self.losses: list[torch.Tensor] = []
        self.numbers: list[float] = []
        self.pending: list[torch.Tensor] = []

    def training_step(self, batch, batch_idx):
        loss = self.layer(batch).mean()
        self.losses.append(loss)  # expect: PLM017
        # trap: cut off
        self.numbers.append(loss.detach())
        # trap: emptied in the step itself
        self.pending.append(loss)
        if batch_idx % 8 == 0:
            self.pending.clear()
        return loss

    def on_train_epoch_end(self):
        self.log("loss", torch.stack(self.losses).mean())
        self.losses.clear()
        self.numbers = []
