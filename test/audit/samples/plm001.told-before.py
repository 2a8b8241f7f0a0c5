import torch


def run(model, batches, compute, optimizer):
    model = model.cuda()
    total, seen = 0.0, 0.0
    for x, y in batches:
        out = model(x.cuda())
        loss, loss_node = compute(out, y.cuda())
        optimizer.zero_grad()
        loss_node.backward()
        optimizer.step()
        total += loss  # likely: PLM001
        seen += loss_node  # expect: PLM001
    return total, seen


def first(model, batches, criterion, optimizer):
    model = model.cuda()
    total, told, cut = 0.0, 0.0, 0.0
    for x, y in batches:
        out = model(x.cuda())
        loss, aux_loss = criterion(out, y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss  # expect: PLM001
        # trap: cut off
        cut += loss.detach()
        # trap: read, which another rule tells of
        told += loss.item()
        # trap: told as a number
        told += float(aux_loss)
    return total, told, cut
