import torch
import torch.nn.functional as F


def distill_loss(scores, wanted, heat):
    count = wanted.size(1)
    if scores.size(1) > count:
        scores = scores[:, :count]
    loss = F.kl_div(F.log_softmax(scores / heat, dim=1), wanted, reduction="batchmean")
    history.append(loss.item())  # expect: PLM025
    return loss


def crop(pictures, size):
    # what no loss computes with may be on the host still
    brightest = pictures.view(-1).max().item()  # likely: PLM025
    return pictures[..., :size] / brightest


history = []


def train(model, teacher, loader, optimizer):
    model.cuda()
    for x, _ in loader:
        small = x if x is None else crop(x, 32)
        out = model["student"](small.cuda())
        with torch.no_grad():
            wanted = teacher(x.cuda())
        loss = distill_loss(*(out, wanted), heat=2.0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
