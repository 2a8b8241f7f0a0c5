"""A network that several others learn from."""

import torch


class Probing:
    def __init__(self, model, probes, optimizer):
        self.model = model.cuda()
        self.probes = probes
        self.optimizer = optimizer

    def run(self, loader):
        for batch in loader:
            for name, probe in self.probes.items():
                with torch.no_grad():
                    hidden = self.model(batch["ids"].cuda())  # expect: PLM080
                loss = probe(hidden[name]).mean()
                loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()


class Learning:
    def __init__(self, model, probes):
        self.model = model.cuda()
        self.probes = probes
        self.optimizer = torch.optim.Adam(model.parameters())

    def run(self, loader):
        for batch in loader:
            for name, probe in self.probes.items():
                with torch.no_grad():
                    # trap: the optimizer has its weights
                    hidden = self.model(batch["ids"].cuda())
                loss = probe(hidden[name]).mean()
                loss.backward()
                self.optimizer.step()


class Following:
    def __init__(self, net, target, optimizer):
        self.net = net.cuda()
        self.target = target.cuda()
        self.optimizer = optimizer

    def run(self, loader):
        for batch in loader:
            for part in batch.parts:
                with torch.no_grad():
                    # trap: it follows the network
                    wanted = self.target(batch.whole)
                loss = (self.net(part) - wanted).abs().mean()
                loss.backward()
                self.optimizer.step()
                follow(self.net, self.target)


def follow(net, target):
    for ours, theirs in zip(net.parameters(), target.parameters()):
        theirs.data.lerp_(ours.data, 0.01)


def drawn(net, teacher, loader, optimizer):
    for batch in loader:
        wanted = []
        for _ in range(8):
            with torch.no_grad():
                # trap: by dropout, another each time
                wanted.append(teacher(batch))
        loss = (net(batch) - torch.stack(wanted).mean(0)).abs().mean()
        loss.backward()
        optimizer.step()
