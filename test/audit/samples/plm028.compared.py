import torch
from torch import nn


class TokenLoss:
    def __init__(self, ignored=-100):
        self.ignored = ignored
        self.measure = nn.CrossEntropyLoss()

    def __call__(self, model, batch):
        model = model.cuda()
        scores = model(batch["tokens"]).logits
        wanted = batch["labels"]
        counted = wanted != self.ignored
        flat = scores[counted]  # expect: PLM028
        first = scores[wanted == 1, 0]  # expect: PLM028
        # trap: a tuple, one of which is picked by a number
        chosen = (flat, first)[batch["turn"] > 0]
        # trap: rows by their numbers
        ordered = scores[wanted]
        # trap: compared with a text, it is one truth
        named = scores[batch["task"] == "words"]
        # trap: a plain number is filled in, which waits for nothing
        scores[wanted == 2] = 0.0
        return self.measure(flat, wanted) + chosen.mean() + ordered.mean() + named.mean()


class Folded(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size
        self.body = nn.Linear(size, size)

    def fold(self, rows):
        rows = rows.reshape(rows.shape[0], -1, self.size)
        return torch.einsum("nlc->ncl", rows)

    def compared(self, rows, made, kept):
        far = (made - self.fold(rows)).abs().mean(1)
        return far[kept.bool()].mean()  # expect: PLM028

    def forward(self, rows, kept):
        return self.compared(rows, self.body(rows.cuda()), kept)
