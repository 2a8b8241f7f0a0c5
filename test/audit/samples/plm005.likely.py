import torch
import torch.nn as nn
import torch.nn.functional as F


class Trainer:
    def __init__(self, model, opt, crit):
        self.model, self.opt, self.crit = model, opt, crit

    def run(self, loader):
        for batch in loader:
            self.loss = 0.0
            for part in batch.split(4):
                out = self.model(part)
                self.loss = self.loss + self.crit(out)  # likely: PLM005
            self.opt.zero_grad()
            self.loss.backward()
            self.opt.step()

    def several(self, buffer):
        losses = []
        for _ in range(4):
            obs, act, ret = buffer.sample(32)
            q = self.critic(obs, act)
            losses.append(F.mse_loss(q, ret))  # likely: PLM005
        self.opt.zero_grad()
        torch.stack(losses).mean().backward()
        self.opt.step()

    def dicts(self, batches):
        losses = {}
        for name, batch in batches.items():
            losses[name] = self.model(batch).loss  # expect: PLM005
        total = sum(losses.values())
        total.backward()
        self.opt.step()

    def helper(self, parts):
        total = 0
        for part in parts:
            total += self.compute(part)  # likely: PLM005
        total.backward()
        self.opt.step()

    def compute(self, part):
        return self.crit(self.model(part))


def accumulate(model, loader, opt, crit, k):
    group = []
    for i, (x, y) in enumerate(loader):
        group.append(crit(model(x), y))  # expect: PLM005
        if len(group) == k:
            opt.zero_grad()
            sum(group).backward()
            opt.step()
            group = []


def mapped(model, x, y, crit, opt):
    loss = sum(map(lambda p: crit(model(p[0]), p[1]), zip(x.chunk(4), y.chunk(4))))  # likely: PLM005
    loss.backward()
    opt.step()


def tasks(model, batches, opt):
    total = torch.zeros((), device="cuda")
    for task, batch in batches.items():
        loss = model(batch, task=task)["loss"]
        total = torch.add(total, loss)  # expect: PLM005
    total.backward()
    opt.step()


def heads(model, x, ys, opt, crit):
    outs = model(x)
    total = 0
    for out, y in zip(outs, ys):
        # trap: one forward
        total += crit(out, y)
    total.backward()
    opt.step()


def unrolled(cell, xs, y, opt):
    h = torch.zeros(1, 8)
    total = 0
    for x in xs:
        h = cell(x, h)
        # trap: backpropagation through time
        total += F.mse_loss(h, y)
    total.backward()
    opt.step()


class Preferences:
    def get_batch_metrics(self, part):
        losses = -F.logsigmoid(self.policy(part))
        return losses.mean(), {"loss": losses.detach().tolist()}

    def get_batch_counts(self, part):
        return len(part), {}

    def train(self, batches, parts):
        for batch in batches:
            total_loss, seen = 0, 0
            for at in range(parts):
                part = slice_of(batch, at, parts)
                loss, metrics = self.get_batch_metrics(part)
                total_loss += loss / parts  # likely: PLM005
                count, _ = self.get_batch_counts(part)
                # trap: a number
                seen += count
            total_loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
