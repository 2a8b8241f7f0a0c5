import lightning as L
import torch.nn.functional as F


class Words(L.LightningModule):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def training_step(self, batch, batch_idx):
        scores = self.net(batch["x"])
        loss = F.cross_entropy(scores, batch["y"])
        self.log("loss", loss, sync_dist=True)
        self.log("top", scores.max(), on_step=True, sync_dist=True)  # expect: PLM071
        # trap: reduced at the end of the epoch
        self.log("spread", scores.std(), on_step=False, on_epoch=True, sync_dist=True)
        return loss

    def validation_step(self, batch, batch_idx):
        scores = self.net(batch["x"])
        # trap: of an epoch, unless one asks for more
        self.log("val_loss", F.cross_entropy(scores, batch["y"]), sync_dist=True)
        self.log("val_top", scores.max(), sync_dist=True)


class Letters(L.LightningModule):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def training_step(self, batch, batch_idx):
        loss = self.net(batch).mean()
        # trap: one, and the others stay where they are
        self.log("loss", loss, sync_dist=True)
        self.log("square", loss.square())
        self.log("root", loss.sqrt(), sync_dist=False)
        return loss


class Sounds(L.LightningModule):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def training_step(self, batch, batch_idx):
        loss = self.net(batch).mean()
        values = {"loss": loss, "square": loss.square(), "root": loss.sqrt()}
        self.log_dict(values, sync_dist=True)  # expect: PLM071
        return loss
