import lightning
import torch


class Net(lightning.LightningModule):
    def configure_optimizers(self):
        # Its Trainer may clip under AMP, and then refuses an optimizer that unscales by itself.
        return torch.optim.AdamW(self.parameters(), lr=1e-3)  # expect: PLM057, by hand


class Pair(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(8, 8).cuda()

    def configure_optimizers(self):
        # trap: said
        first = torch.optim.AdamW(self.parameters(), lr=1e-3, fused=True)
        second = torch.optim.Adam(self.parameters(), lr=1e-3)  # expect: PLM057, by hand
        return first, second
