"""A flag that one of the calls turns off."""

from torch.nn import functional as F


def descend(loss, optimizer, keep=True):
    optimizer.zero_grad()
    # trap: the last of the losses lets go of the graph that both of them have
    loss.backward(retain_graph=keep)
    optimizer.step()


def train(net, loader, first, second):
    for x, y in loader:
        out = net(x.cuda())
        descend(F.mse_loss(out, y.cuda()), first)
        descend(F.l1_loss(out, y.cuda()), second, keep=False)
