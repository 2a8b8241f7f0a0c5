import torch
import torch.nn.functional as F


def agreement(ours, labels):
    sure = ours.argmax(dim=1) == labels
    return F.cross_entropy(ours[sure], labels[sure])  # expect: PLM028, PLM028


def spread(ours, labels):
    # trap: handed to an evaluation alone
    return ours[ours.argmax(dim=1) == labels].std()


def by_default(ours):
    return F.relu(ours[ours > 0]).mean()  # expect: PLM028


def one_epoch(net, loader, optimizer, measure, beside=by_default):
    for x, labels in loader:
        made = net(x.cuda())
        loss = measure(made, labels.cuda()) + beside(made)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@torch.no_grad()
def evaluate(net, loader, measure):
    for x, labels in loader:
        print(measure(net(x.cuda()), labels.cuda()))


def fit(net, loader, optimizer, criterion, judge):
    for _ in range(10):
        one_epoch(net, loader, optimizer, criterion)
        evaluate(net, loader, judge)


def main(net, loader):
    net = net.cuda()
    fit(net, loader, torch.optim.AdamW(net.parameters()), agreement, spread)
