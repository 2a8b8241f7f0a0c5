import heapq
import json
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
        tot = tot + loss * x.size(0)
        stats["loss"] += loss
        acc.add_(loss)
        best = loss if best is None else torch.minimum(best, loss)
        for k, v in parts.items():
            stats[k] += v
        hist["l"] += [loss]  # expect: PLM002
        q.put((i, loss))  # likely: PLM002
        heapq.heappush(heap, (i, loss))  # likely: PLM002
        trace.update({i: loss})  # likely: PLM002
        trace[i] = pred  # expect: PLM002
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
        self.sum += td
        self.log.append(td)  # likely: PLM002
        self.h["a"].append(q.mean())  # likely: PLM002
        self.ema = 0.9 * self.ema + 0.1 * td
        return td.item()


def step(net, opt, batch, losses):
    out = net(batch)
    l = out.pow(2).mean()
    l.backward()
    opt.step()
    losses.append(l)  # likely: PLM002


LOSSES = []

def update_step(net, opt, batch):
    out = net(batch)
    obj = out.pow(2).mean()
    obj.backward()
    opt.step()
    LOSSES.append(obj)  # expect: PLM002


def replay(net, opt, loader, crit):
    total, rate = 0.0, 0.0
    terms, rates = [], []
    for x, y in loader:
        loss = crit(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        # trap: a number
        shown = loss.item()
        terms.append(shown)
        total += shown
        # trap: counted
        accuracy = get_accuracy(net(x), y)
        rate += accuracy
        rates.append(accuracy)
    return total / len(loader), rate


class Player:
    def __init__(self, model):
        self.model = model
        self.values, self.entropies = [], []
        self.outputs = {}

    def action_train(self, state):
        value, logit = self.model(state)
        entropy = -(logit.log_softmax(1) * logit.softmax(1)).sum(1)
        # trap: emptied by `clear`, and read by who differentiates it in another file
        self.entropies.append(entropy)
        self.values.append(value)

    def clear(self):
        self.entropies = []
        self.values = []


def play(player, states, opt):
    for state in states:
        player.action_train(state)
        loss = compute_loss(player)
        loss.backward()
        opt.step()
        player.clear()


def read_losses(paths, opt):
    losses = []
    for path in paths:
        data = json.load(open(path))
        # trap: of a file
        losses.append(data["ego_loss"])
        opt.step()
    return losses


class Epochs:
    def train_step(self, batch):
        loss = self.net(batch).mean()
        loss.backward()
        self.opt.step()
        metrics = {
            "loss": loss.detach() * self.scale,
        }
        return metrics

    def train_epoch(self, loader):
        kept = []
        for batch in loader:
            metrics = self.train_step(batch)
            # trap: cut off where it is made
            kept.append(metrics["loss"])
        return torch.stack(kept).mean()
