import torch

ACCUMULATE_EVERY = 4


def shear(flock, net):
    loss = net(next(flock)).mean() / ACCUMULATE_EVERY
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    return loss


def graze(net, flock, optimizer, days):
    for day in range(days):
        for _ in range(ACCUMULATE_EVERY):
            shear(flock, net)  # expect: PLM079
        optimizer.step()
        optimizer.zero_grad()


def bleat(net):
    torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)


# Once for all the parts.
def drive(net, flock, optimizer, days):
    for day in range(days):
        for _ in range(ACCUMULATE_EVERY):
            loss = net(next(flock)).mean() / ACCUMULATE_EVERY
            loss.backward()
        bleat(net)
        optimizer.step()
        optimizer.zero_grad()
