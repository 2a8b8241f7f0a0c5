import functools

import torch

from .tools import amp_context, no_amp


class Worker:
    def __init__(self, net, optimizer):
        self.net = net
        self.optimizer = optimizer
        self.narrow = functools.partial(torch.autocast, "cuda", dtype=torch.bfloat16)
        self.scaler = torch.amp.GradScaler("cuda")  # likely: PLM061

    def train_step(self, x, y):
        with amp_context():
            loss = torch.nn.functional.mse_loss(self.net(x), y)
            loss.backward()  # likely: PLM061
        self.optimizer.step()

    def plain_step(self, x, y):
        # trap: nothing is cast in there
        with no_amp():
            loss = torch.nn.functional.mse_loss(self.net(x), y)
            loss.backward()
        self.optimizer.step()

    def scaled_step(self, x, y):
        with self.narrow():
            loss = torch.nn.functional.mse_loss(self.net(x), y)
        # trap: outside of it
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
