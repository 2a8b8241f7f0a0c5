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


class Compute:
    def __init__(self, head, criterion):
        self.head, self.criterion = head, criterion

    def __call__(self, x, y, count):
        loss = self.criterion(self.head(x), y)
        return loss.data * count, loss, x


def counted(model, batches, compute, optimizer):
    model = model.cuda()
    total = 0.0
    for x, y in batches:
        # trap: what is called here hands back what it has cut off
        loss, loss_node, _ = compute(model(x.cuda()), y.cuda(), len(x))
        optimizer.zero_grad()
        loss_node.backward()
        optimizer.step()
        total += loss
    return total
