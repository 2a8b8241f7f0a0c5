import torch


class Runner:
    def __init__(self):
        self.failures = []
        self.refused = []

    def run(self, count):
        for _ in range(count):
            try:
                self.turn()
            except RuntimeError as e:
                self.failures.append(e)  # expect: PLM011
            try:
                self.look()
            except RuntimeError as e:
                # trap: what derives from this only reads a file there
                self.refused.append(e)

    def turn(self):
        raise NotImplementedError

    def look(self):
        """What has come in."""
        raise NotImplementedError()


class Trainer(Runner):
    def __init__(self, net, loader, optimizer):
        super().__init__()
        self.net = net.cuda()
        self.batches = iter(loader)
        self.optimizer = optimizer

    def turn(self):
        loss = self.net(next(self.batches).cuda()).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def look(self):
        with open("inbox") as file:
            return file.read()
