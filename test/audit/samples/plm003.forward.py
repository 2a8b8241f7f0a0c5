import torch
from torch import nn


class Segment(nn.Module):
    @torch.no_grad()
    def forward(self, batched_input):
        outputs = []
        for record in batched_input:
            masks = self.decoder(record.cuda())
            # trap: the pictures of one batch
            outputs.append(masks)
        return outputs


@torch.no_grad()
def evaluate(model, criterion, loader):
    model.eval()
    losses, kept = [], []
    for x, y in loader:
        out = model(x.cuda())
        loss = criterion(out, y.cuda())
        # trap: one number a batch
        losses.append(loss)
        kept.append(out)  # expect: PLM003
    return losses, kept
