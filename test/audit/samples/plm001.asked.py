import torch


def asked(model, loader, optimizer, every):
    total = 0.0
    for step, x in enumerate(loader):
        loss = model(x.cuda()).sum()
        loss.backward()
        if step % every == 0:
            optimizer.step()
            loss = loss.item()
        if not isinstance(loss, float):
            total += loss  # expect: PLM001
        else:
            # trap: a number, which has nothing to detach
            total += loss
    return total
