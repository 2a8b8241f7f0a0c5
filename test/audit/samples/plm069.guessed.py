import torch.nn.functional as F
from meters import AverageMeter


def train(net, loader, optimizer, scores, tracker, memory):
    net.cuda()
    losses = AverageMeter()
    seen = {}
    for x, y in loader:
        y = y.cuda()
        out = net(x.cuda())
        loss = F.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        losses.update(loss, x.size(0))  # likely: PLM069
        tracker.add({"loss": loss, "norm": out.norm()})  # likely: PLM069
        # trap: a number
        losses.update(loss.item(), x.size(0))
        # trap: a dict of Python's
        seen.update({"loss": loss})
        # trap: compared on the device
        scores.update(out, y)
