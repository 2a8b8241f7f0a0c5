import time

import torch


class Lap:
    def __init__(self, told):
        self.told = told

    def __enter__(self):
        self.begun = time.perf_counter()

    def __exit__(self, *error):
        self.told(time.perf_counter() - self.begun)


class Laps:
    def __init__(self):
        self.taken = {}

    def lap(self, what):
        return Lap(self.taken.setdefault(what, []).append)

    def told(self, what):
        return sum(self.taken[what])


class Watch:
    def __init__(self):
        self.begun = 0.0
        self.total = 0.0

    def tic(self):
        self.begun = time.time()

    def toc(self):
        self.total += time.time() - self.begun


class PatientWatch:
    def tic(self):
        torch.cuda.synchronize()
        self.begun = time.time()

    def toc(self):
        torch.cuda.synchronize()
        return time.time() - self.begun


def train(model, loader, optimizer):
    model = model.cuda()
    whole = Lap(print)
    laps = Laps()
    watch = Watch()
    patient = PatientWatch()
    for x in loader:
        with laps.lap("forward"):  # expect: PLM083
            loss = model(x.cuda()).mean()
        with whole:  # expect: PLM083
            loss.backward()
        watch.tic()
        optimizer.step()
        # trap: no network ran between the two
        watch.toc()
        watch.tic()
        model(x.cuda()).mean().backward()
        watch.toc()  # expect: PLM083
        watch.tic()
        model(x.cuda()).mean().item()
        # trap: the read waits
        watch.toc()
        patient.tic()
        model(x.cuda()).mean().backward()
        # trap: the watch waits by itself
        patient.toc()
        with laps.lap("read"):
            # trap: the read waits
            print(model(x.cuda()).mean().item())


class Runner:
    def __init__(self, model):
        self.model = model.cuda()
        self.watch = Watch()
        self.laps = Laps()

    def step(self, x):
        self.watch.tic()
        loss = self.model(x.cuda()).mean()
        self.watch.toc()  # expect: PLM083
        with self.laps.lap("backward"):  # expect: PLM083
            loss.backward()
        # trap: no timer
        print(self.laps.told("backward"))
