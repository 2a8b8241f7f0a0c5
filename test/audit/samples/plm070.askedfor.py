import random

import torch


class Training:
    def __init__(self, net, optimizer, options):
        self.net = net.cuda()
        self.optimizer = optimizer
        self.options = options

    def train(self, loader):
        for frames in loader:
            loss = self.process(frames.cuda(), is_train=True, drawn=True)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def judge(self, loader):
        with torch.no_grad():
            return [self.process(frames.cuda()) for frames in loader]

    def process(self, frames, is_train=False, drawn=False, traced=False):
        if is_train and not self.options.plain:
            draws = [random.random() for _ in range(len(frames))]
            still = [at for at, draw in enumerate(draws) if draw < 0.25]
            frames[still] = 0  # expect: PLM070
        if is_train and traced:
            shown = [at for at in range(len(frames)) if at % 2]
            # trap: nobody asks for that
            self.show(frames[shown])
        if not is_train:
            first = [0, 1]
            # trap: where nothing is trained
            self.show(frames[first])
        return self.net(frames).mean()
