import time


def train(model, loader, optimizer, steps):
    model = model.cuda()
    begun = time.time()
    for at, x in enumerate(loader):
        loss = model(x.cuda()).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if at % 10 == 0:
            # trap: how long all of it has run
            print(at, time.time() - begun)
        start = time.time()
        loss = model(x.cuda()).mean()
        loss.backward()
        spent = time.time() - start  # expect: PLM083
        optimizer.step()
        optimizer.zero_grad()
        print(spent)


def one_epoch(model, loader, optimizer):
    right = 0
    for x, y in loader:
        out = model(x.cuda())
        loss = out.mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        right += int((out.argmax(-1) == y.cuda()).sum())
    return right


def train_epochs(model, loader, optimizer):
    model = model.cuda()
    for _ in range(10):
        begun = time.time()
        right = one_epoch(model, loader, optimizer)
        # trap: each of its steps counts on the host, and waits
        print(right, time.time() - begun)
