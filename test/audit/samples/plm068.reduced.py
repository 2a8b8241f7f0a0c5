import torch
import torch.nn as nn


class Words(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.words = nn.Embedding(100, width)
        self.places = nn.Parameter(torch.zeros(77, width))
        self.cuda()

    def encoded(self, ids, lengths, sizes):
        last = ids.argmax(dim=-1).max() + 1
        ids = ids[:, :last]  # expect: PLM068
        places = self.places[:last]  # expect: PLM068
        # trap: lengths may be of the host
        ids = ids[:, : lengths.max()]
        # trap: read on the host already
        first = sizes.sum(1).max().item()
        # trap: sent there first
        most = sizes.cpu().sum(1).max()
        return self.words(ids[:, :first]) + places[: most + 1]

    def forward(self, ids, lengths, sizes):
        return self.encoded(ids, lengths, sizes)


class Table:
    def __init__(self, rows):
        self.rows = rows

    def short(self, counts):
        # trap: of an array, in no forward
        return self.rows[: counts.sum(axis=1).max()] + self.rows[: counts.sum(1).max()]
