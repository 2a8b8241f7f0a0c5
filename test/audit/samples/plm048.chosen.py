def paired(a, b, temperature=0.1):
    sim = a @ b.t()
    logits = sim / temperature  # expect: PLM048
    return logits.logsumexp(1).mean()


def shown(a, b, temperature=0.1):
    # trap: nobody calls it in a step
    sim = a @ b.t()
    logits = sim / temperature
    return logits.mean()


def given(a, b, temperature=0.1):
    # trap: what was handed in may be called instead
    sim = a @ b.t()
    logits = sim / temperature
    return logits.mean()


def plain(a, b):
    return (a - b).pow(2).mean()


def train(model, loader, optimizer, simple, extra=None):
    loss_fn = paired
    if simple:
        loss_fn = plain
    if extra is None:
        extra = given
    show = shown
    model.cuda().train()
    for a, b in loader:
        a, b = model(a.cuda(non_blocking=True)), model(b.cuda(non_blocking=True))
        loss = loss_fn(a, b) + extra(a, b)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return show(a, b)
