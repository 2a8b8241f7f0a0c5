import math


def whole(task, batch, optimizer):
    optimizer.zero_grad()
    losses, report = task(batch)
    total = losses["loss"]
    total.backward()
    optimizer.step()
    return losses, report


def halted(task, batch, optimizer):
    optimizer.zero_grad()
    losses, report = task(batch)
    losses["loss"].backward()
    optimizer.step()
    return {name: one.detach().cpu() for name, one in losses.items()}, report  # expect: PLM025


def train(task, loader, optimizer):
    task.to("cuda")
    for step, batch in enumerate(loader):
        result = whole(task, batch, optimizer)
        losses, report = result
        if not math.isfinite(losses["loss"].item()):  # expect: PLM025
            raise RuntimeError("not finite")
        # trap: who knows what is reported
        seen = report["seen"].item()
        if step % 100 == 0:
            # trap: now and then
            print(losses["loss"].item(), seen)


def again(task, loader, optimizer):
    task.to("cuda")
    for batch in loader:
        losses, report = halted(task, batch, optimizer)
        # trap: the step has brought it to the host
        print(losses["loss"].item())
