def train(fabric, model, optimizer, loader, accumulate):
    step = 0
    while True:
        batch = next(loader)
        is_accumulating = step % accumulate != 0
        with fabric.no_backward_sync(model, enabled=is_accumulating):
            loss = model(**batch).loss
            fabric.backward(loss)  # expect: PLM065
        if not is_accumulating:
            optimizer.step()
            optimizer.zero_grad()
        step += 1


def divided(fabric, model, optimizer, loader, accumulate):
    step = 0
    while True:
        batch = next(loader)
        is_accumulating = step % accumulate != 0
        loss = model(**batch).loss
        # trap: divided
        fabric.backward(loss / accumulate)
        if not is_accumulating:
            optimizer.step()
            optimizer.zero_grad()
        step += 1
