def train(model, optimizer, batches, n):
    for batch in batches:
        for i in range(n):
            loss = model(batch[i]) / n
            if i == n - 1:
                with model.no_sync():  # expect: PLM084
                    loss.backward()
            else:
                loss.backward()
        optimizer.step()


def right(model, optimizer, batches, n):
    for batch in batches:
        for i in range(n):
            loss = model(batch[i]) / n
            if i < n - 1:
                # trap: all but the last
                with model.no_sync():
                    loss.backward()
            else:
                loss.backward()
        optimizer.step()


def wrapped_around(ddp, optimizer, batches, n):
    for batch in batches:
        for i in range(n):
            ddp.require_backward_grad_sync = i % n == 1  # expect: PLM084
            (ddp(batch[i]) / n).backward()
        optimizer.step()
