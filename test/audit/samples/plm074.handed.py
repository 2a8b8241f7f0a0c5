import functools

import torch
import torch.nn.functional as F


def distil(scores, labels, wanted, heat=4.0):
    scores, wanted = scores.double(), wanted.double()  # expect: PLM074
    soft = F.kl_div(F.log_softmax(scores / heat, dim=1), F.softmax(wanted / heat, dim=1))
    return soft + F.cross_entropy(scores, labels)


def tempered(scores, labels, heat):
    scores = scores.to(torch.float64)  # expect: PLM074
    return F.cross_entropy(scores / heat, labels)


def told(scores, labels):
    # trap: only told beside it
    return F.cross_entropy(scores.double(), labels)


def apart(scores, labels):
    # trap: nobody who trains is handed it
    return F.cross_entropy(scores.double(), labels)


def counted(scores, labels):
    # trap: no loss is computed of it
    return scores.double().sum() * 0 + labels.sum()


def train(net, loader, optimizer, objective, metric=None):
    net.cuda().train()
    for x, y in loader:
        loss = objective(net(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def main(net, loader, optimizer):
    train(net, loader, optimizer, distil, metric=told)
    train(net, loader, optimizer, objective=functools.partial(tempered, heat=2.0))
    train(net, loader, optimizer, counted)
    print(apart)
