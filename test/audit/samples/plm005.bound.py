"""A run that is bound with its part of the batch, and called below."""

import functools


class Runner:
    def __init__(self, net, diffusion, optimizer):
        self.net = net.cuda()
        self.diffusion = diffusion
        self.optimizer = optimizer

    def train(self, batches, size):
        for batch in batches:
            self.optimizer.zero_grad()
            losses = []
            for start in range(0, batch.shape[0], size):
                part = batch[start : start + size].cuda()
                run = functools.partial(self.diffusion.training_losses, self.net, part)
                losses.append(run()["loss"].mean())  # expect: PLM005
            sum(losses).backward()
            self.optimizer.step()

    def train_parts(self, batches, size):
        for batch in batches:
            self.optimizer.zero_grad()
            for start in range(0, batch.shape[0], size):
                run = functools.partial(self.diffusion.training_losses, self.net, batch[start : start + size])
                # trap: differentiated in each turn
                run()["loss"].mean().backward()
            self.optimizer.step()

    def train_whole(self, batches, weights):
        for batch in batches:
            self.optimizer.zero_grad()
            run = functools.partial(self.diffusion.training_losses, self.net, batch.cuda())
            terms, loss = run(), 0.0
            for name, weight in weights.items():
                # trap: terms of one run
                loss = loss + weight * terms[name].mean()
            loss.backward()
            self.optimizer.step()
