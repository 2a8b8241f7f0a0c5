from torch import nn


class Memory(nn.Module):
    def __init__(self, net, optimizer):
        super().__init__()
        self.net = net
        self.optimizer = optimizer
        self.tasks = []
        self.task = -1

    def forward(self, x, t):
        return self.net(x)

    def observe(self, x, t, y):
        if t != self.task:
            # trap: the number of a task
            self.tasks.append(t)
            self.task = t
        self.optimizer.zero_grad()
        loss = (self.forward(x, t)[:, first(t) :] - y).square().mean()
        loss.backward()
        self.optimizer.step()


def first(t):
    return t * 10
