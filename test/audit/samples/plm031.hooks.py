import gc

import lightning as L
import torch


class Module(L.LightningModule):
    def training_step(self, batch, batch_idx):
        return self.net(batch).mean()

    def training_step_end(self, outputs):
        torch.cuda.empty_cache()  # expect: PLM031
        return outputs

    def configure_gradient_clipping(self, optimizer, clip, algorithm):
        torch.cuda.empty_cache()  # expect: PLM031
        torch.nn.utils.clip_grad_norm_(self.parameters(), 1.0)

    def validation_epoch_end(self, outputs):
        # trap: once an epoch
        torch.cuda.empty_cache()

    def on_train_epoch_end(self):
        # trap: once an epoch
        gc.collect()
        torch.cuda.empty_cache()


class Data:
    def training_step_end(self, outputs):
        # trap: of no module of Lightning
        torch.cuda.empty_cache()
