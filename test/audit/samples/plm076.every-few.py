from torch.utils.data import DataLoader

OLD_EVERY = 4


def train(model, data, kept, optimizer, often):
    loader = DataLoader(data, batch_size=8, num_workers=4)
    old_loader = DataLoader(kept, batch_size=8, num_workers=4)
    for i, (x, y) in enumerate(loader):
        if i % 3 == 2:
            x, y = next(iter(old_loader))  # expect: PLM076
        loss = model(x, y)
        loss.backward()
        optimizer.step()
    for i, (x, y) in enumerate(loader):
        loss = model(x, y)
        if (i + 1) % OLD_EVERY == 0:
            more, told = next(iter(old_loader))  # expect: PLM076
            loss = loss + model(more, told)
        loss.backward()
        optimizer.step()
    for i, (x, y) in enumerate(loader):
        loss = model(x, y)
        if i % 500 == 0:
            # trap: once in a long while
            x, y = next(iter(old_loader))
            loss = loss + model(x, y)
        if i % often == 0:
            # trap: nobody says how often
            x, y = next(iter(old_loader))
            loss = loss + model(x, y)
        loss.backward()
        optimizer.step()
        if i % 8 == 0:
            # trap: a look, of which nothing is learnt
            shown, _ = next(iter(old_loader))
            print(shown.shape)
