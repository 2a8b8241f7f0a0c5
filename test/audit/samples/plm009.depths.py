"""Maps of depths, and rows of a vocabulary under a plain name."""

from torch.nn import functional as F


def depths(net, loader, optimizer, measure, metrics):
    for left, right, left_depth in loader:
        depth_map = net(left.cuda(), right.cuda())  # expect: PLM009
        loss = F.l1_loss(depth_map, left_depth.cuda())
        metrics.evaluate(depth_map, left_depth)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def kept(net, loader, optimizer, shelf):
    for left, right, left_depth in loader:
        # trap: somebody keeps it
        depth_map = net(left.cuda(), right.cuda())
        shelf.add(depth_map, left_depth)
        loss = F.l1_loss(depth_map, left_depth.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
