import itertools

import torch
import torch.nn.functional as F
from layers import Counting, build

net = build().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, fused=True)


def statistics(model, loader, batches=200):
    layers = [one for one in model.modules() if isinstance(one, torch.nn.BatchNorm2d)]
    means = [torch.zeros_like(one.running_mean) for one in layers]
    for at, (x, _) in enumerate(itertools.islice(loader, batches)):
        model(x.cuda(non_blocking=True))  # expect: PLM019
        for mean, layer in zip(means, layers):
            mean += (layer.running_mean - mean) / (at + 1)
    return means


@torch.no_grad()
def unrecorded(model, loader):
    for x, _ in loader:
        # trap: nothing is recorded
        model(x.cuda())


def warm(model, shape):
    for _ in range(3):
        # trap: no data, once at the beginning
        model(torch.zeros(shape, device="cuda"))


def kept_by_hooks(loader):
    for x, y in loader:
        optimizer.zero_grad()
        # trap: what its hooks keep is differentiated
        net(x.cuda())
        loss = F.mse_loss(net.kept, y.cuda())
        loss.backward()
        optimizer.step()


def frozen(loader):
    counting = Counting().cuda().eval()
    counting.requires_grad_(False)
    for x, _ in loader:
        # trap: frozen, it records nothing
        counting(x.cuda())
