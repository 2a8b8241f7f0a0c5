import torch
from torch import nn


class Writer(nn.Module):
    def training_step(self, batch, index):
        hidden = self.decoder(batch["input_ids"].cuda())
        logits = self.generator(hidden)
        # trap: asked of once, and gone
        self.seen = logits.float().std().item()
        # trap: a number an example
        width = self.spread(hidden).float()
        loss = self.smoothed(logits.to(torch.float32), batch["labels"])  # likely: PLM046
        return loss + width.mean()
