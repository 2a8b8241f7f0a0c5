import torch


@torch.no_grad()
def mean_of(net, image):
    """What the judge makes of a picture."""
    return net.features(image).mean()


@torch.no_grad()
def some_of(net, image):
    return net.features(image).softmax(-1).multinomial(1)


@torch.no_grad()
def counted(net, image):
    net.seen += 1
    return net(image)


def train(model, judge, style, loader, optimizer):
    judge.eval()
    for x in loader:
        out = model(x)
        wanted = mean_of(judge, style)  # expect: PLM080
        # trap: drawn anew
        drawn = some_of(judge, style)
        # trap: it does more than that
        again = counted(judge, style)
        # trap: of the batch
        own = mean_of(judge, x)
        # trap: it learns
        mine = mean_of(model, style)
        loss = (out - wanted - drawn - again - own - mine).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
