"""What is kept may be a tensor, several of them, a number or nothing."""

from typing import Optional

import torch
import torch.nn as nn


class Loss(nn.Module):
    def __init__(self):
        super().__init__()
        self.prev_num = 0
        self.prev_rows = 0
        self.labels = None

    def truth(self, num_logits, rows):
        if self.prev_num != num_logits or self.prev_rows != rows:
            self.labels = torch.arange(num_logits).cuda()
            # trap: how many there are
            self.prev_num = num_logits
            # trap: as many, as all that call this say
            self.prev_rows = rows
        return self.labels

    def forward(self, features):
        logits = features @ features.T
        return nn.functional.cross_entropy(logits, self.truth(logits.shape[0], features.size(0)))


class Head(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.proj = nn.Linear(8, 8)
        self.cells = nn.LSTM(8, 8)

    def forward(self, x, adj, concept_ids, heads_z: Optional[torch.Tensor] = None, keep=False, **masks):
        out = self.net(x, adj, heads_z, **masks)
        seen, ends = self.cells(x)
        if keep:
            # Several, for what is seen here.
            self.adj = adj  # expect: PLM004, by hand
            # None, where nobody gives it.
            self.heads_z = heads_z  # expect: PLM004, by hand
            # A dict.
            self.masks = masks  # expect: PLM004, by hand
            # What is handed back by who knows what.
            self.out = out  # expect: PLM004, by hand
            # A pair of them.
            self.ends = ends  # expect: PLM004, by hand
            self.rows = self.proj(x)  # expect: PLM004
            self.seen = seen  # expect: PLM004
            # trap: places, that have no graph
            self.concept_ids = concept_ids
        return out


class Shown(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        out = self.net(x)
        # What reads it asks a tensor's method.
        self.shown = out  # expect: PLM004
        return out

    def picture(self):
        return self.shown.detach().mean(0)


def watch(net, store):
    def keep(module, inputs, output):
        # The inputs come as a tuple.
        store["inputs"] = inputs  # expect: PLM004, by hand
        store["output"] = output  # expect: PLM004

    net.layer.register_forward_hook(keep)
    print(store["output"].detach().mean())
