"""A forward that is told whether it is to judge: what is not for that runs in every step."""

import torch
import torch.nn as nn


class Prototypes(nn.Module):
    def __init__(self, encoder, classes, width):
        super().__init__()
        self.encoder = encoder
        self.register_buffer("prototypes", torch.zeros(classes, width))

    def forward(self, batch, is_eval=False, is_clean=False):
        target = batch[1].cuda()
        q = self.encoder(batch[0].cuda())
        if is_eval:
            # trap: for judging only
            return q, target.unique()
        if not is_clean:
            for label in torch.unique(target):  # expect: PLM028
                self.prototypes[label] = q[0]
        return q, target


class Told(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        self.eval_mode = False

    def forward(self, x):
        x = self.encoder(x.cuda())
        if self.eval_mode:
            # trap: for judging only
            return x[x.sum(-1).nonzero()[:, 0]]
        return x, x.sum(-1).nonzero()  # expect: PLM028


class Sometimes(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder

    def forward(self, x, is_inference=False, should_pick=False):
        x = self.encoder(x.cuda())
        if not is_inference:
            x = x + x.sum(-1).nonzero().size(0)  # expect: PLM028
        else:
            # trap: for judging only
            x = x + x.sum(-1).nonzero().size(1)
        if not should_pick:
            return x
        # trap: now and then
        return x, x.sum(-1).nonzero()
