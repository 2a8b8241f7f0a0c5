import torch


def in_tiles(net, x):
    return torch.cat([net(part) for part in x.chunk(4)])


def described(net, path):
    torch.save(net.state_dict(), path)


class Learner:
    def __init__(self, net, optimizer):
        self.net, self.optimizer = net.cuda().train(), optimizer

    def step(self, x):
        self.net(x).mean().backward()
        self.optimizer.step()
        self.optimizer.zero_grad()

    def in_halves(self, x):
        for half in x.chunk(2):
            (self.net(half).mean() / 2).backward()
        self.optimizer.step()
        self.optimizer.zero_grad()

    def fit(self, loader):
        for x in loader:
            try:
                self.step(x.cuda())
            except torch.cuda.OutOfMemoryError:
                torch.cuda.empty_cache()
                self.in_halves(x.cuda())  # expect: PLM010


def whole(net, x, path):
    net.cuda().eval()
    try:
        return net(x)
    except torch.cuda.OutOfMemoryError:
        # trap: it writes down, and runs nothing
        described(net, path)
        return in_tiles(net, x)  # expect: PLM010
