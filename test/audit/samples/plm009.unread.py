import torch
import torch.nn.functional as F


def beside(net, loader, optimizer):
    net.train()
    for x, y in loader:
        detections, losses = net(x, y)  # expect: PLM009
        loss = sum(losses.values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def stages(net, loader, optimizer):
    net.train()
    for x, y in loader:
        c1, c2, c3, scores = net(x, True)  # expect: PLM009
        loss = F.cross_entropy(scores, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def rest(net, loader, optimizer):
    net.train()
    for x, y in loader:
        *feature_maps, scores = net(x, True)  # expect: PLM009
        loss = F.cross_entropy(scores, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def read(net, loader, optimizer):
    net.train()
    for x, y in loader:
        # trap: the loss is computed of all of them
        c1, c2, scores = net(x, True)
        loss = F.cross_entropy(scores, y) + c1.pow(2).mean() + c2.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def few(net, loader, optimizer):
    net.train()
    for x, y in loader:
        # trap: a few numbers, by their names
        scores, mu, q1, q2 = net(x)
        loss = F.cross_entropy(scores, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def dropped(net, loader, optimizer):
    net.train()
    for x, y in loader:
        # trap: deleted already
        detections, losses = net(x, y)
        del detections
        loss = sum(losses.values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def asked(net, loader, optimizer):
    net.train()
    for x, y in loader:
        features, scores = net(x, return_features=True)  # expect: PLM009
        loss = F.cross_entropy(scores, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def given(net, loader, optimizer):
    net.train()
    for x, y in loader:
        # trap: what a network gives unasked may be a row an example
        features, scores = net(x)
        loss = F.cross_entropy(scores, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
