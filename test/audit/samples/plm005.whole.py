import torch


def micro_loss(x, y):
    with torch.autocast("cuda"):
        return torch.nn.functional.cross_entropy(whole(x), y)


def judged(x, y):
    with torch.no_grad():
        return torch.nn.functional.cross_entropy(whole(x), y)


def in_windows(loader, optimizer, every):
    window, told = 0, 0
    for step, (x, y) in enumerate(loader):
        window = window + micro_loss(x.cuda(), y.cuda()) / every  # expect: PLM005
        # trap: without a graph
        told = told + judged(x.cuda(), y.cuda())
        if (step + 1) % every != 0:
            continue
        loss = window
        window = 0
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return told


whole = torch.nn.Linear(8, 8).cuda()
