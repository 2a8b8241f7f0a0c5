from contextlib import nullcontext


class Ranked:
    def __init__(self, model, optimizer, every):
        self.model = model
        self.optimizer = optimizer
        self.every = every
        self.step = 0

    def exchange(self):
        if self.step % self.every == self.every - 1:
            return self.model.no_sync()
        return nullcontext()

    def right(self):
        # trap: all but the turn that steps
        return self.model.no_sync() if (self.step + 1) % self.every != 0 else nullcontext()

    def told(self, hold):
        # trap: what it is told, nobody can see here
        return self.model.no_sync() if hold else nullcontext()

    def train_step(self, x):
        with self.exchange():  # expect: PLM084
            (self.model(x).mean() / self.every).backward()
        if (self.step + 1) % self.every == 0:
            self.optimizer.step()
            self.optimizer.zero_grad()

    def right_step(self, x):
        with self.right():
            (self.model(x).mean() / self.every).backward()
        if (self.step + 1) % self.every == 0:
            self.optimizer.step()
            self.optimizer.zero_grad()

    def told_step(self, x, last):
        with self.told(not last):
            (self.model(x).mean() / self.every).backward()
        if last:
            self.optimizer.step()
            self.optimizer.zero_grad()


def pieces(net, batch, optimizer, size):
    for at in range(0, batch.shape[0], size):
        if at >= batch.shape[0]:
            net(batch[at : at + size]).mean().backward()
        else:
            with net.no_sync():  # expect: PLM084
                net(batch[at : at + size]).mean().backward()
    optimizer.step()


def right_pieces(net, batch, optimizer, size):
    for at in range(0, batch.shape[0], size):
        if at + size >= batch.shape[0]:
            net(batch[at : at + size]).mean().backward()
        else:
            with net.no_sync():  # trap: the last part is exchanged
                net(batch[at : at + size]).mean().backward()
    optimizer.step()
