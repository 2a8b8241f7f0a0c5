from functools import partial


def differentiate(scale, loss, optimizer):
    (loss * scale).backward()


def note(total):
    print(total)


def train(model, loader, criterion, optimizer, accumulate):
    backward = partial(differentiate, 2.0)
    batches = iter(loader)
    while True:
        total = 0
        for _ in range(accumulate):
            x, y = next(batches)
            total = total + criterion(model(x), y) / accumulate  # expect: PLM005
        backward(total, optimizer)
        optimizer.step()
        optimizer.zero_grad()


def each(model, loader, criterion, optimizer, accumulate):
    batches = iter(loader)
    while True:
        total = 0
        for _ in range(accumulate):
            x, y = next(batches)
            loss = criterion(model(x), y) / accumulate
            differentiate(1.0, loss, optimizer)
            # trap: each turn's graph is gone by now
            total += loss.detach()
        note(total)
        optimizer.step()
        optimizer.zero_grad()


def penalised(model, loader, criterion, optimizer, accumulate):
    batches = iter(loader)
    while True:
        total = 0
        for _ in range(accumulate):
            x, y = next(batches)
            loss = criterion(model(x), y) / accumulate
            differentiate(1.0, loss, optimizer)
            # trap: what is handed on after the loop is another term
            total += model.penalty(x).detach()
        differentiate(0.1, total, optimizer)
        optimizer.step()
        optimizer.zero_grad()
