from torch.nn import functional as F


def weave(at, threads, colours, loom, optimiser, options):
    miss = F.cross_entropy(loom(threads.cuda()), colours.cuda()) / options.accum_steps
    miss.backward()
    if (at + 1) % options.accum_steps == 0:  # expect: PLM065
        optimiser.step()
        optimiser.zero_grad()


def weave_all(loom, loader, optimiser, options):
    for at, (threads, colours) in enumerate(loader):
        weave(at, threads, colours, loom, optimiser, options)


# The loop's owner steps with what is left.
def knit(at, threads, colours, loom, optimiser, options):
    miss = F.cross_entropy(loom(threads.cuda()), colours.cuda()) / options.accum_steps
    miss.backward()
    if (at + 1) % options.accum_steps == 0:
        optimiser.step()
        optimiser.zero_grad()


def knit_all(loom, loader, optimiser, options):
    for at, (threads, colours) in enumerate(loader):
        knit(at, threads, colours, loom, optimiser, options)
    optimiser.step()
    optimiser.zero_grad()


# A count that goes on from one epoch to the next leaves nothing over.
def sew(seen, threads, colours, loom, optimiser, options):
    miss = F.cross_entropy(loom(threads.cuda()), colours.cuda()) / options.accum_steps
    miss.backward()
    if (seen + 1) % options.accum_steps == 0:
        optimiser.step()
        optimiser.zero_grad()
    return seen + 1


def sew_all(loom, loader, optimiser, options):
    seen = 0
    for _ in range(options.epochs):
        for threads, colours in loader:
            seen = sew(seen, threads, colours, loom, optimiser, options)


class Spinner:
    def __init__(self, net, optimizer, feed, accumulate_every):
        self.net = net.cuda()
        self.optimizer = optimizer
        self.feed = feed
        self.accumulate_every = accumulate_every

    def spin(self, rounds):
        for _ in range(rounds):
            for _ in range(self.accumulate_every):
                self.pull()
            self.optimizer.step()
            self.optimizer.zero_grad()

    def pull(self):
        loss = self.net.loss(next(self.feed))
        loss.backward()  # expect: PLM065


# Handed the number, under a name of its own, by which it divides.
class Carder:
    def __init__(self, net, optimizer, feed, accumulate_every):
        self.net = net.cuda()
        self.optimizer = optimizer
        self.feed = feed
        self.accumulate_every = accumulate_every

    def card(self, rounds):
        for _ in range(rounds):
            for _ in range(self.accumulate_every):
                self.comb(self.accumulate_every)
            self.optimizer.step()
            self.optimizer.zero_grad()

    def comb(self, many):
        loss = self.net.loss(next(self.feed)) / many
        loss.backward()
