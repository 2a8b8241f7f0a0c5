"""What a loss counts is where the network is, also where another file sends the batches."""

import torch
import torch.nn.functional as F


def masked_loss(scores: torch.Tensor, labels: torch.Tensor, lengths: list, ignored: int = -1):
    each = F.cross_entropy(scores, labels, ignore_index=ignored, reduction="none")
    count = (labels != ignored).sum()
    # trap: of numbers
    longest = max(1, sum(lengths))
    # trap: of numbers as well
    rows = max(1, labels.shape[0])
    # trap: on the host
    least = max(1, torch.tensor(lengths).sum())
    # trap: how many dimensions it has
    if labels.dim() == 2:
        rows = rows + 1
    # trap: whether it is there
    if labels is None:
        rows = rows + 2
    return each.sum() / max(1, count) / longest / rows / least  # expect: PLM027


def empty_loss(scores: torch.Tensor, labels: torch.Tensor, ignored: int = -1):
    count = (labels != ignored).sum()
    if count == 0:  # expect: PLM027
        return scores.sum() * 0.0
    return F.cross_entropy(scores, labels, ignore_index=ignored, reduction="sum") / count


def spread(errors: torch.Tensor, mask: torch.Tensor):
    known = mask.sum()
    below = max(known, 1)  # expect: PLM027
    return (errors * mask).sum() / below


def lengths_of(mask: torch.Tensor):
    # no tensor is divided by it, and nobody knows where it is
    return list(range(max(mask.sum(), 1)))  # likely: PLM027


def train(fabric, model, batches, optimizer):
    model.cuda()
    for x, labels, lengths in batches:
        out = model(x)
        loss = masked_loss(out, labels, lengths) + empty_loss(out, labels) + spread(out, labels)
        fabric.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        lengths_of(lengths)
