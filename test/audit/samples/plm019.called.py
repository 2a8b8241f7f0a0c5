"""Functions of any name, called with a network that the caller has put into eval mode."""

import torch


def score(net, loader):
    hits = 0
    for x, y in loader:
        hits += (net(x.cuda()).argmax(1) == y.cuda()).sum().item()  # expect: PLM019
    return hits


def listed(loader, net):
    return [net.forward(x).argmax(1).tolist() for x in loader]  # expect: PLM019


def quiet(net, loader):
    with torch.no_grad():
        # trap: switches recording off itself
        return [net(x).argmax(1).tolist() for x in loader]


def either(net, loader):
    # trap: somebody calls it while training
    return [net(x).argmax(1).tolist() for x in loader]


def guarded(net, loader):
    # trap: its caller has switched recording off
    return [net(x).argmax(1).tolist() for x in loader]


def total(net, loader):
    loss = 0
    for x in loader:
        # trap: differentiated by whom it is handed to
        loss = loss + net(x.cuda()).mean()
        print(loss.item())
    return loss


def other(net, loader):
    # trap: another network than the one that was switched
    return [net(x).argmax(1).tolist() for x in loader]


def chosen(net, loader):
    # trap: not always in eval mode
    return [net(x).argmax(1).tolist() for x in loader]


def kept(net, loader):
    # trap: frozen
    return [net(x).argmax(1).tolist() for x in loader]


def fit(model, base, judge, loader, held_out, optimizer, training):
    for p in base.parameters():
        p.requires_grad = False
    for epoch in range(3):
        model.train()
        print(either(model, loader))
        for x, y in loader:
            model(x.cuda()).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
        if not training:
            judge.eval()
        print(chosen(judge, held_out))
        model.eval()
        base.eval()
        print(score(model, held_out), listed(held_out, net=model), either(model, held_out))
        print(quiet(model, held_out), other(judge, held_out), kept(base, held_out))
        with torch.no_grad():
            print(guarded(model, held_out))
        value = total(model, held_out)
        value.backward()


class Runner:
    def fit(self, loader, held_out):
        for x in loader:
            self.model(x.cuda()).sum().backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
        self.model.eval()
        print(self.collect(held_out))

    def collect(self, loader):
        found = []
        for x in loader:
            found += self.model(x.cuda()).argmax(1).tolist()  # expect: PLM019
        return found
