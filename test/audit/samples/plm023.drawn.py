import copy

import torch


class Painter:
    def __init__(self, net, judge, batches, canvas):
        self.net = net.cuda()
        self.judge = judge.cuda()
        self.slow = copy.deepcopy(self.net)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=2e-5)
        self.batches, self.canvas = batches, canvas
        self.squash = torch.nn.Sigmoid()
        self.turn = 0

    def fit(self, turns):
        for _ in range(turns):
            self.optimizer.zero_grad()
            self.net.loss(next(self.batches).cuda()).backward()
            self.optimizer.step()
            if self.turn % 100 == 0:
                # trap: no network, but a curve
                self.count()
            if self.turn % 10 == 0:
                # trap: copies weights, and runs nothing
                self.follow()
            if self.turn % 1000 == 0:
                self.draw()  # expect: PLM023
            self.turn += 1

    def fit_and_clear(self, turns):
        for _ in range(turns):
            self.net.loss(next(self.batches).cuda()).backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            if self.turn % 1000 == 0:
                # trap: nothing is left
                self.draw()

    def fit_twice(self, turns):
        for _ in range(turns):
            self.optimizer.zero_grad()
            self.net.loss(next(self.batches).cuda()).backward()
            self.optimizer.step()
            if self.turn % 16 == 0:
                self.optimizer.zero_grad()
                # trap: a part of a step, whose backward is below
                penalty = self.penalty(next(self.batches).cuda())
                penalty.backward()
                self.optimizer.step()

    def fit_in_turns(self, turns):
        for _ in range(turns):
            self.optimizer.zero_grad()
            self.net.loss(next(self.batches).cuda()).backward()
            self.optimizer.step()
            # trap: every step
            self.keep(next(self.batches).cuda())

    def fit_layers(self, layers, x):
        for layer in layers:
            for _ in range(100):
                self.optimizer.zero_grad()
                layer.loss(x).backward()
                self.optimizer.step()
            # trap: the next one learns from what this one makes of it
            x = self.passed(x)

    def follow(self):
        for old, new in zip(self.slow.parameters(), self.net.parameters()):
            old.data.lerp_(new.data, 0.01)

    def count(self):
        for level in self.canvas.levels():
            print(self.squash(level).mean().item())

    def draw(self):
        for _ in range(4):
            self.canvas.show(self.slow(torch.randn(16, 8, device="cuda")))

    def penalty(self, x):
        return self.judge(self.net(x)).pow(2).mean()

    def passed(self, x):
        return self.slow(x).detach()

    def keep(self, x):
        self.canvas.keep(self.slow(x))

    def save(self, path):
        torch.save({"net": self.net.state_dict(), "slow": self.slow.state_dict()}, path)


def render(rays, nets):
    return sum(net.query(rays) for net in nets)


def distance(colours, wanted):
    return (colours - wanted).pow(2).mean()


def film(path, nets):
    frames = []
    for rays in path:
        frames.append(render(rays, nets).cpu())
    return frames


def told(colours, wanted):
    for one, other in zip(colours, wanted):
        print(distance(one, other).item())


def rendered(batches, path, nets, optimizer):
    for turn, (rays, wanted) in enumerate(batches):
        colours = render(rays.cuda(), nets)
        optimizer.zero_grad()
        loss = distance(colours, wanted.cuda())
        loss.backward()
        optimizer.step()
        if turn % 100 == 0:
            # trap: compares what was rendered for the step
            told(colours.detach(), wanted.cuda())
        if turn % 1000 == 0:
            with torch.no_grad():
                frames = film(path, nets)  # expect: PLM023
            print(len(frames))
