"""A network that sends the batch itself, and is told whether it is to judge; a loader that pins."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader


class Contrast(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder

    def forward(self, batch, gpu, is_eval=False):
        target = batch[1].cuda(gpu, non_blocking=True)
        if is_eval:
            return self.encoder(batch[0].cuda(gpu)), target
        both = torch.cat([batch[0], batch[2]], dim=0).cuda(gpu, non_blocking=True)  # expect: PLM072
        # trap: moved before they are joined
        views = torch.stack([batch[0].cuda(gpu), batch[2].cuda(gpu)])
        return self.encoder(both) + views.mean(), target


class Mixed(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder

    def forward(self, batch, is_test=False):
        if not is_test:
            images = torch.cat([batch["weak"], batch["strong"]]).cuda()  # expect: PLM072
        else:
            # trap: for judging only
            images = torch.cat([batch["weak"], batch["flipped"]]).cuda()
        return self.encoder(images)

    def join(self, x, y, device):
        # trap: what a layer is handed is there already
        return torch.cat([x, y]).to(device, non_blocking=True)


def load(rows):
    return DataLoader(rows, batch_size=8, pin_memory=True)
