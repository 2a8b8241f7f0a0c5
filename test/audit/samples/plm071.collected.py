import torch
import torch.distributed as dist


def reduce_losses(losses):
    found, names = [], []
    values = []
    metrics = []
    with torch.no_grad():
        for name in sorted(losses):
            names.append(name)
            found.append(losses[name])
            metrics.append(losses[name])
        for value in metrics:
            dist.reduce(value, dst=0)  # expect: PLM071
        # trap: one for all of them
        values = torch.stack(found)
        dist.reduce(values, dst=0)
    return dict(zip(names, metrics)), values


def average_gradients(model):
    grads = []
    for p in model.parameters():
        if p.grad is not None:
            grads.append(p.grad)
    # trap: gradients have to be exchanged, and are no metrics
    for grad in grads:
        dist.all_reduce(grad)


def show(last):
    losses = []
    losses.append(last)
    # trap: one alone
    for loss in losses:
        dist.reduce(loss, dst=0)


def train(model, loader, optimizer):
    for x in loader:
        out = model(x.cuda())
        loss = out.mean()
        optimizer.zero_grad()
        loss.backward()
        average_gradients(model)
        optimizer.step()
        reduce_losses({"mean": loss.detach(), "spread": out.detach().std()})
        show(loss.detach())
