import torch
import torch.nn.functional as F


class Fitting:
    def __init__(self, net, optimizer):
        self.net = net
        self.optimizer = optimizer

    def compute_loss(self, x):
        out, apart = self.net(x)
        loss = F.mse_loss(out, x) + apart.mean()
        self.stats = dict(made=out, loss=loss)  # expect: PLM004
        # trap: numbers alone
        self.figures = dict(made=out.detach().mean(), loss=loss.detach())
        # trap: what went in has no graph
        self.seen = x
        # trap: a term that somebody may add to a loss
        self.aux_loss = apart
        with torch.no_grad():
            again, _ = self.net(x)
        # trap: made without recording
        self.shown = again.clip(-1, 1)
        return loss

    def pick(self, x):
        out, _ = self.net(x)
        # trap: whoever asks for a pick may not record at all
        self.picked = out.softmax(-1)
        return out.argmax(-1)

    def fit(self, loader):
        for x in loader:
            loss = self.compute_loss(x)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    @torch.no_grad()
    def check(self, loader):
        return sum(self.compute_loss(x).item() for x in loader)


class Process:
    def __init__(self, net_, steps):
        self.net_ = net_
        self.steps = steps

    def distill_loss(self, other, x, t):
        with torch.no_grad():
            wanted = self.net_(x, t)
        v = other.net_(x, t / self.steps)
        self.last = (x - t * v).clip(-1, 1)  # expect: PLM004
        # trap: the teacher ran without recording
        self.wanted = (x - t * wanted).clip(-1, 1)
        return F.mse_loss(v, wanted)
