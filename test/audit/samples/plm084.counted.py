def train(model, optimizer, loader, n):
    done = 0
    for x, y in loader:
        model.require_backward_grad_sync = done % n == 0  # expect: PLM084
        (model(x, y) / n).backward()
        done += 1
        if done % n == 0:
            optimizer.step()
            optimizer.zero_grad()


def train_ahead(model, optimizer, loader, n):
    done = 0
    for x, y in loader:
        # trap: counted on in between
        model.require_backward_grad_sync = (done + 1) % n == 0
        (model(x, y) / n).backward()
        done += 1
        if done % n == 0:
            optimizer.step()
            optimizer.zero_grad()


def train_counted_first(model, optimizer, loader, n):
    done = 0
    for x, y in loader:
        done += 1
        # trap: counted on before both
        model.require_backward_grad_sync = done % n == 0
        (model(x, y) / n).backward()
        if done % n == 0:
            optimizer.step()
            optimizer.zero_grad()


def train_named(model, optimizer, loader, n):
    done = 0
    for x, y in loader:
        last = (done + 1) % n == 0
        # trap: what was asked above the count decides both
        model.require_backward_grad_sync = last
        (model(x, y) / n).backward()
        done += 1
        if last:
            optimizer.step()
            optimizer.zero_grad()
