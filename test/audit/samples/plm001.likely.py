import heapq
import queue
from collections import defaultdict

import torch
import torch.nn.functional as F

def train_a(model, loader, opt, crit, device):
    tot = 0.
    stats = defaultdict(float)
    hist = {"l": []}
    best = None
    acc = torch.zeros(1, device=device)
    q = queue.Queue()
    heap = []
    trace = {}
    for i, (x, y) in enumerate(loader):
        x, y = x.to(device), y.to(device)
        pred = model(x)
        loss, parts = crit(pred, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot = tot + loss * x.size(0)  # expect: PLM001
        stats["loss"] += loss  # expect: PLM001
        acc.add_(loss)  # likely: PLM001
        best = loss if best is None else torch.minimum(best, loss)  # expect: PLM001
        for k, v in parts.items():
            stats[k] += v  # likely: PLM001
        hist["l"] += [loss]
        q.put((i, loss))
        heapq.heappush(heap, (i, loss))
        trace.update({i: loss})
        trace[i] = pred
    return tot / len(loader)


class Agent:
    def __init__(self, net, opt):
        self.net, self.opt = net, opt
        self.sum = 0
        self.log = []
        self.h = {"a": []}
    def learn(self, batch):
        q = self.net(batch["obs"])
        td = F.smooth_l1_loss(q, batch["target"])
        self.opt.zero_grad()
        td.backward()
        self.opt.step()
        self.sum += td  # expect: PLM001
        self.log.append(td)
        self.h["a"].append(q.mean())
        self.ema = 0.9 * self.ema + 0.1 * td  # likely: PLM001
        return td.item()


def step(net, opt, batch, losses):
    out = net(batch)
    l = out.pow(2).mean()
    l.backward()
    opt.step()
    losses.append(l)


LOSSES = []

def update_step(net, opt, batch):
    out = net(batch)
    obj = out.pow(2).mean()
    obj.backward()
    opt.step()
    LOSSES.append(obj)


def replay(net, opt, loader, crit):
    total, rate = 0.0, 0.0
    for x, y in loader:
        loss = crit(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        # trap: a number
        shown = loss.item()
        total += shown
        # trap: counted
        accuracy = get_accuracy(net(x), y)
        rate += accuracy
    return total / len(loader), rate


def parts_step(net, crit, opt, loader, json, files):
    told = 0.0
    for x, y in loader:
        heat, push = crit(net(x), y)
        loss = 0
        for i in range(2):
            # trap: the parts of one forward, begun anew by the next
            loss = loss + heat[i]
        loss.backward()
        opt.step()
    for file in files:
        saved = json.load(file)
        told += saved["val_loss"]
    return told


class Points:
    def validation_step(self, batch):
        heat_losses, push_losses = self.loss_fn.calculate_loss(self.net(batch), batch)
        loss = 0
        for i in range(2):
            # trap: of one forward
            loss = loss + heat_losses[i]
        return (loss + push_losses[0]).item()
