import torch


def in_parts(net, batches, opt, accelerator, steps, every, held):
    for step in range(steps):
        opt.zero_grad()
        for part in batches[step].chunk(4):
            with accelerator.accumulate(net):
                accelerator.backward(net(part).mean())
                opt.step()
        if step % every == 0:
            with torch.no_grad():  # expect: PLM023
                print(torch.stack([scored(net, part) for part in held]).mean())


def in_parts_cleared(net, batches, opt, accelerator, steps, every, held):
    for step in range(steps):
        for part in batches[step].chunk(4):
            with accelerator.accumulate(net):
                accelerator.backward(net(part).mean())
                opt.step()
                # trap: cleared behind the step
                opt.zero_grad()
        if step % every == 0:
            with torch.no_grad():
                print(torch.stack([scored(net, part) for part in held]).mean())


def cleared_below(net, batches, opt, accelerator, steps, every, held):
    for step in range(steps):
        opt.zero_grad()
        for part in batches[step].chunk(4):
            with accelerator.accumulate(net):
                accelerator.backward(net(part).mean())
                opt.step()
        # trap: cleared behind the loop
        opt.zero_grad()
        if step % every == 0:
            with torch.no_grad():
                print(torch.stack([scored(net, part) for part in held]).mean())


def counted(net, batches, opt, steps, every):
    for step in range(steps):
        opt.zero_grad()
        net(batches[step]).mean().backward()
        opt.step()
        if step % every == 0:
            with torch.no_grad():
                # trap: no network is run
                print(size(net))


def scored(net, part):
    out = net(part)
    return out.mean()


def size(net):
    return sum(p.abs().sum() for p in net.parameters())
