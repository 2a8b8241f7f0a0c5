"""An order that a turn is handed."""

import numpy as np
import torch


class Learner:
    def __init__(self, net, opt, size):
        self.net = net
        self.opt = opt
        self.size = size

    def learn(self, kept, turns):
        kept = torch.from_numpy(kept).to("cuda")
        order = np.arange(kept.shape[0])
        np.random.shuffle(order)
        for count in range(turns):
            self.turn(count, order, kept)
        there = torch.randperm(kept.shape[0], device="cuda")
        for count in range(turns):
            self.turn_there(count, there, kept)
        for count in range(turns):
            self.turn_either(count, there, kept)
            self.turn_either(count, order, kept)

    def turn(self, count, order, kept):
        rows = order[count * self.size : (count + 1) * self.size]
        loss = self.net(kept[rows]).mean()  # expect: PLM070
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()

    def turn_there(self, count, order, kept):
        rows = order[count * self.size : (count + 1) * self.size]
        # trap: the order is on the device
        loss = self.net(kept[rows]).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()

    def turn_either(self, count, order, kept):
        rows = order[count * self.size : (count + 1) * self.size]
        # trap: nobody knows which
        loss = self.net(kept[rows]).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
