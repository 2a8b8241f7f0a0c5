import time
from collections import defaultdict
from time import perf_counter

import torch


class Stages:
    def __init__(self):
        self.clock = time.perf_counter
        self.begun = {}
        self.taken = defaultdict(float)

    def begin(self, stage):
        self.begun[stage] = self.clock()

    def end(self, stage):
        self.taken[stage] += self.clock() - self.begun.pop(stage)


class Nested:
    def __init__(self):
        self.stack = []

    def push(self):
        self.stack.append(perf_counter())

    def pop(self):
        now = perf_counter()
        return now - self.stack.pop()


class Budget:
    """What is kept here is no reading of a clock."""

    def __init__(self):
        self.left = {}

    def allow(self, stage, seconds):
        self.left[stage] = seconds

    def over(self, stage):
        return time.monotonic() - self.left[stage] > 0


def train(model, loader, optimizer):
    model = model.cuda()
    stages, nested, budget = Stages(), Nested(), Budget()
    for x in loader:
        stages.begin("copy")
        stages.begin("forward")
        loss = model(x.cuda()).mean()
        stages.end("forward")  # expect: PLM083
        budget.allow("backward", 3)
        loss.backward()
        budget.over("backward")  # trap: no second reading
        nested.push()
        loss = model(x.cuda()).mean()
        loss.backward()
        nested.pop()  # expect: PLM083
        stages.begin("step")
        optimizer.step()
        optimizer.zero_grad()
        torch.cuda.synchronize()
        stages.end("step")  # trap: the device has been waited for
        stages.end("copy")  # trap: likewise, under its own key
