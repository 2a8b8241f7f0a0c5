import torch


def broken(loss):
    return not torch.isfinite(loss)  # expect: PLM027


def finite(loss, enabled):
    # trap: the last of them is handed back as it is
    return enabled and torch.isfinite(loss)


def larger(loss, limit):
    # trap: a tensor, which nobody asks yet
    return loss > limit


def missing(batch):
    # trap: whether it is there
    return not batch or batch.get("mask") is None


def train(model, loader, optimizer):
    for step, batch in enumerate(loader):
        loss = model(batch["x"].cuda()).mean()
        if broken(loss):  # a Python bool by now
            continue
        finite(loss, True)
        larger(loss, 5.0)
        missing(batch)
        # trap: a number
        last = not step
        bad = torch.isnan(loss) or last  # expect: PLM027
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
