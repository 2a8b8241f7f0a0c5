import torch.nn.functional as F


def train(model, loader, optimizer, accumulate):
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y)
        loss.backward()  # expect: PLM065
        if (step + 1) % accumulate == 0 or step + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()


def dropped(model, loader, optimizer, accumulate):
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y) / accumulate
        loss.backward()
        if (step + 1) % accumulate == 0:  # expect: PLM065
            optimizer.step()
            optimizer.zero_grad()


def right(model, loader, optimizer, accumulate):
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y)
        # trap: divided
        (loss / accumulate).backward()
        if (step + 1) % accumulate == 0 or step + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()


def every_turn(model, loader, optimizer):
    for step, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        # trap: cleared every turn, so nothing adds up
        F.cross_entropy(model(x), y).backward()
        if step % 2 == 0:
            optimizer.step()


def driven(model, loader, optimizer, accelerator):
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y)
        # trap: the driver divides
        accelerator.backward(loss)
        if (step + 1) % 4 == 0 or step + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()


def train_scaled(net, batches, optimizer, num_accumulation_rounds, total):
    while True:
        optimizer.zero_grad()
        for _ in range(num_accumulation_rounds):
            loss = net(next(batches))
            # trap: divided by what all rounds have together
            loss.sum().mul(1.0 / total).backward()
        optimizer.step()


def by_tokens_of_the_whole_batch(model, episodes, optimizer, size):
    tokens = sum(len(one) for one in episodes)
    for at in range(0, len(episodes), size):
        x, mask = episodes[at : at + size]
        gain = model(x)
        # trap: what all micro-batches have is counted before them
        gain = (gain * mask).sum() / tokens
        loss = -gain
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def cleared_in_every_turn(model, loader, optimizer):
    for step, (x, y) in enumerate(loader):
        try:
            loss = F.cross_entropy(model(x), y)
            # trap: nothing is added up, whatever an error clears
            loss.backward()
            if (step + 1) % 4 == 0 or step + 1 == len(loader):
                optimizer.step()
            optimizer.zero_grad()
        except RuntimeError:
            optimizer.zero_grad()
            continue
