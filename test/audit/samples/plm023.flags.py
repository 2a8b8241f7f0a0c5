import torch
from torch.nn.functional import cross_entropy


def both(net, loader, optimizer, training):
    for x, y in loader:
        loss = cross_entropy(net(x.cuda()), y.cuda())
        if training:
            optimizer.zero_grad()  # expect: PLM023
            loss.backward()
            optimizer.step()


def batch(net, optimizer, x, y, eval_only=False):
    if not eval_only:
        optimizer.zero_grad()  # expect: PLM023
    loss = cross_entropy(net(x.cuda()), y.cuda())
    if not eval_only:
        loss.backward()
        optimizer.step()
    return loss.detach()


def phased(net, loader, optimizer, phase):
    for x, y in loader:
        loss = cross_entropy(net(x.cuda()), y.cuda())
        if phase == "train":
            optimizer.zero_grad()  # expect: PLM023
            loss.backward()
            optimizer.step()


def always(net, optimizer, x, y, eval_only):
    # trap: an evaluation clears as well
    optimizer.zero_grad()
    loss = cross_entropy(net(x.cuda()), y.cuda())
    if not eval_only:
        loss.backward()
        optimizer.step()
    return loss.detach()


def after(net, loader, optimizer, train):
    for x, y in loader:
        loss = cross_entropy(net(x.cuda()), y.cuda())
        if train:
            loss.backward()
            optimizer.step()
            # trap: nothing is left
            optimizer.zero_grad()


def only(net, loader, optimizer, train=True):
    for x, y in loader:
        loss = cross_entropy(net(x.cuda()), y.cuda())
        if train:
            # trap: nobody asks it to evaluate
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def warm(net, loader, optimizer):
    only(net, loader, optimizer)
    only(net, loader, optimizer, train=True)


def apart(net, loader, optimizer, train):
    for x, y in loader:
        loss = cross_entropy(net(x.cuda()), y.cuda())
        if train:
            # trap: its caller clears before it evaluates
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def fit(net, loader, held, optimizer):
    apart(net, loader, optimizer, True)
    optimizer.zero_grad(set_to_none=True)
    with torch.no_grad():
        apart(net, held, optimizer, False)


def many(net, loader, optimizers, is_train):
    for x, y in loader:
        if is_train:
            for optimizer in optimizers:
                optimizer.zero_grad()  # expect: PLM023
        loss = cross_entropy(net(x.cuda()), y.cuda())
        if is_train:
            loss.backward()
            for optimizer in optimizers:
                optimizer.step()


def epoch(net, loader, optimizer=None):
    for x, y in loader:
        loss = cross_entropy(net(x.cuda()), y.cuda())
        if optimizer is not None:
            optimizer.zero_grad()  # expect: PLM023
            loss.backward()
            optimizer.step()


def stepped(net, loader, optimizer=None):
    for x, y in loader:
        loss = cross_entropy(net(x.cuda()), y.cuda())
        if optimizer is not None:
            # trap: all that call it hand one in
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def twice(net, loader, optimizer):
    stepped(net, loader, optimizer)
    stepped(net, loader, optimizer=optimizer)


def told(net, loader, optimizer=None):
    train = optimizer is not None
    for x, y in loader:
        loss = cross_entropy(net(x.cuda()), y.cuda())
        if train:
            optimizer.zero_grad()  # expect: PLM023
            loss.backward()
            optimizer.step()


def switched(net, optimizer, x, y):
    loss = cross_entropy(net(x.cuda()), y.cuda())
    if net.training:
        optimizer.zero_grad()  # expect: PLM023
        loss.backward()
        optimizer.step()
    return loss.detach()


def clip(net, loader, optimizer, verbose):
    for x, y in loader:
        loss = cross_entropy(net(x.cuda()), y.cuda())
        if verbose:
            # trap: says nothing of an evaluation
            optimizer.zero_grad()
        loss.backward()
        optimizer.step()
