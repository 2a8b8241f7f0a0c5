import torch
import torch.distributed as dist


def averaged(x, ranks):
    if ranks > 1:
        dist.all_reduce(x)
    return x / ranks


def fit(net, loader, optimizer, ranks, debug):
    net.cuda()
    for images in loader:
        scores = net(images.cuda())
        loss, spread = scores.mean(), scores.std()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        parts = {"loss": loss, "spread": spread}
        names = sorted(parts)
        shown = [averaged(parts[name].detach(), ranks) for name in names]  # expect: PLM071
        if dist.get_world_size() > 1:
            dist.all_reduce(loss)
            dist.all_reduce(spread)  # expect: PLM071
        # trap: all of them at once
        together = torch.stack([loss, spread])
        if dist.is_initialized():
            together = together / 2
    return shown, together
