import torch
from torch import nn


class First(nn.Module):
    def forward(self, mask, outputs):
        hidden = outputs.last_hidden_state.clone()  # expect: PLM081
        if mask is None:
            return hidden[:, 0]
        return (hidden * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)


class Centred(nn.Module):
    def forward(self, mask, outputs):
        hidden = outputs["last"].clone()  # expect: PLM081
        mean = (hidden * mask[:, :, None]).sum(1)
        return mean / mask.sum(1, keepdim=True)


class Covered(nn.Module):
    def forward(self, mask, outputs):
        # trap: written into
        hidden = outputs.last_hidden_state.clone()
        hidden[mask == 0] = 0
        return hidden.sum(1)


class Handing(nn.Module):
    def forward(self, mask, outputs):
        # trap: whoever calls this writes into it
        hidden = outputs.last_hidden_state.clone()
        return hidden[:, 0]


class Shown(nn.Module):
    def forward(self, mask, outputs):
        # trap: nobody here calls this
        hidden = outputs.last_hidden_state.clone()
        return hidden[:, 1:]


class Reader(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body.cuda()
        self.first = First()
        self.centred = Centred()
        self.handing = Handing()
        self.covered = Covered()

    def forward(self, ids, mask):
        outputs = self.body(ids)
        pooled = self.first(mask, outputs)
        handed = self.handing(mask, outputs)
        handed += 1
        return pooled + self.centred(mask, outputs) + handed + self.covered(mask, outputs)
