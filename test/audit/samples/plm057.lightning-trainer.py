import lightning
import torch


class Net(lightning.LightningModule):
    def configure_optimizers(self):
        # trap: said
        first = torch.optim.AdamW(self.parameters(), lr=1e-3, fused=True)
        return first, torch.optim.AdamW(self.parameters(), lr=1e-3)  # expect: PLM057


def main(data):
    lightning.Trainer(accelerator="gpu", precision="16-mixed").fit(Net(), data)
