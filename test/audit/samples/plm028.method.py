import torch
import torch.nn.functional as F
from torch import nn

device = torch.device("cuda")


class Seen(nn.Module):
    def __init__(self, unseen):
        super().__init__()
        self.unseen = unseen

    def forward(self, scores, labels, order):
        each = F.cross_entropy(scores, labels, reduction="none")
        seen = labels.ne(self.unseen)
        # trap: rows by their numbers
        turned = each[order.argsort()]
        # trap: as large as before
        filled = each.masked_fill(seen, 0)
        return each[seen].mean() + turned.mean() + filled.mean()  # expect: PLM028
