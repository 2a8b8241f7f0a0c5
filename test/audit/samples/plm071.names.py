import torch.distributed as dist


def averaged(losses):
    shares = {}
    for name in sorted(losses.keys()):
        share = losses[name].detach().clone()
        dist.all_reduce(share)  # expect: PLM071
        shares[name] = share / dist.get_world_size()
    return shares


def averaged_by_name(metrics):
    for name in metrics:
        dist.all_reduce(metrics[name])  # expect: PLM071
    return metrics


def shared(layers):
    # trap: gradients, each as large as its layer
    for at in sorted(layers):
        dist.all_reduce(layers[at].grad)


def train(net, loader, optimizer, layers, meters):
    for x, y in loader:
        losses = net(x.cuda(), y.cuda())
        meters.update(averaged(losses))
        meters.update(averaged_by_name(losses))
        optimizer.zero_grad()
        sum(losses.values()).backward()
        shared(layers)
        optimizer.step()


def report(epoch_losses):
    # trap: once, at the end
    for name in sorted(epoch_losses):
        dist.all_reduce(epoch_losses[name])
