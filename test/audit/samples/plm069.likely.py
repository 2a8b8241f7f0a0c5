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
        # trap: right after a read, nothing is queued
        losses.update(loss, x.size(0))
        seen["size"] = x.size(0)
        tracker.add({"loss": loss, "norm": out.norm()})  # likely: PLM069
        # trap: a number
        losses.update(loss.item(), x.size(0))
        # trap: a dict of Python's
        seen.update({"loss": loss})
        # trap: compared on the device
        scores.update(out, y)


class Matcher:
    def get_loss(self, boxes, scores):
        total_loss = super().forward(boxes, scores)
        # trap: a dict, as its keys say
        total_loss.update(self._get_loss_aux(boxes))
        return {k: total_loss[k] for k in total_loss.keys()}


def told(err):
    return {"errD": err.cpu().item()}


def run(loader, net, optimizer, writer):
    net.cuda()
    for x in loader:
        loss = net(x.cuda()).mean()
        loss.backward()
        optimizer.step()
        losses = told(loss)
        # trap: read already
        writer.add_scalar("loss", losses["errD"])


def timed_run(loader, net, optimizer, timer):
    net.cuda()
    losses = AverageMeter()
    for x in loader:
        x = x.cuda()

        def step():
            loss = net(x).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return float(loss), optimizer.param_groups[0]["lr"]

        (loss, rate), ms = timer(step)
        # trap: a number, as the step hands it back
        losses.update(loss)


def timed_tensors(loader, net, optimizer, timer):
    net.cuda()
    losses = AverageMeter()
    for x in loader:
        x = x.cuda()

        def step():
            loss = net(x).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss.detach()

        loss, ms = timer(step)
        losses.update(loss)  # likely: PLM069
