from torch.utils.data import DataLoader


def train(model, data, folds, optimizer, steps):
    loader = DataLoader(data)
    for _ in range(steps):
        batch = next(iter(loader))  # expect: PLM076
        model(batch).backward()
        optimizer.step()
    # trap: one iterator
    batches = iter(loader)
    for _ in range(steps):
        model(next(batches)).backward()
        optimizer.step()
    for epoch in range(3):
        again = DataLoader(data)  # expect: PLM076
        for batch in again:
            model(batch).backward()
            optimizer.step()
    for fold in folds:
        # trap: each fold has its own data
        part = DataLoader(fold)
        for batch in part:
            model(batch).backward()
            optimizer.step()
    # trap: one look at the data
    print(next(iter(loader)))


class Agent:
    def __init__(self, model, optimizer, every):
        self.model, self.optimizer, self.every = model, optimizer, every

    def look(self, loader, step):
        if step % self.every != 0:
            return
        # trap: once in a while, and nothing is differentiated below
        self.show(next(iter(loader)))

    def show(self, batch):
        print(batch)

    def update(self, batch, loader, step):
        self.look(loader, step)
        self.model(batch).backward()
        self.optimizer.step()
