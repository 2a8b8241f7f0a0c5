import torch


class Criterion:
    def step(self, batch):
        loss = self.net(batch.cuda()).mean()
        if not self.fits(loss):
            return None
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()


class Trainer:
    def __init__(self, net):
        self.criterion = Criterion(net)

    def train_step(self, batch):
        # the loop tries again what hardly ever has to be: it goes through one step, not many
        result = self.criterion.step(batch)
        while result is None:
            result = self.criterion.step(batch)
        return result

    def train(self, loader):
        for batch in loader:
            self.train_step(batch)
            torch.cuda.synchronize()  # expect: PLM030

    def finish(self, loader):
        self.train(loader)
        # trap: once, at the end
        torch.cuda.synchronize()


class Player:
    def __init__(self, net):
        self.criterion = Criterion(net)

    def train_epoch(self, batches):
        left = list(batches)
        while left is not None:
            self.criterion.step(left.pop())
            left = left or None
        # trap: once an epoch: this loop goes through many steps
        torch.cuda.synchronize()

    def train(self, epochs):
        for batches in epochs:
            self.train_epoch(batches)
            # trap: once an epoch as well
            torch.cuda.synchronize()
