import time

import torch


class Watch:
    def __init__(self):
        self.total = 0
        self.start()

    def start(self):
        self.begun = time.perf_counter()

    def stop(self, again=False):
        took = time.perf_counter() - self.begun
        if again:
            self.start()
        return took

    def keep(self):
        self.total += self.stop()

    def keep_waiting(self):
        torch.cuda.synchronize()
        self.total += self.stop()


def train(net, loader, optimizer):
    net = net.cuda()
    reading, running, waiting = Watch(), Watch(), Watch()
    for batch in loader:
        batch = batch.cuda()
        # trap: no network runs before that
        reading.keep()
        running.start()
        waiting.start()
        loss = net(batch).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running.keep()  # expect: PLM083
        # trap: it waits
        waiting.keep_waiting()
        reading.start()
