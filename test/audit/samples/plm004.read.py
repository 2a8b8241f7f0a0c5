import lightning as L
import torch.nn.functional as F


class Recognizer(L.LightningModule):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def training_step(self, batch, batch_idx):
        inputs, targets = batch
        out = self.net(inputs)
        self.seen = out  # expect: PLM004
        # trap: its mean is part of a loss
        self.features = out.relu()
        # trap: handed to whoever asks
        self.scores = out.softmax(-1)
        return F.cross_entropy(out, targets) + self.sparsity()

    def sparsity(self):
        return self.features.abs().mean()

    def last_scores(self):
        return self.scores.exp().mean(0)

    def on_train_epoch_end(self):
        self.log("spread", self.seen[..., 0].std())
