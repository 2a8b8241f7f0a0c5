import torch.nn.functional as F


def train(model, loader, optimizer):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()  # expect: PLM022
        loss.backward()
        optimizer.step()


def before(model, loader, optimizer):
    for x, y in loader:
        # trap: before the forward
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()


def after(model, loader, optimizer):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        # trap: right after the step
        optimizer.zero_grad()


def two(model, critic, loader, optimizer):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()  # expect: PLM022
        loss.backward()
        critic(x).sum().backward()
        optimizer.step()


def apart(model, critic, loader, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        # trap: before the forward of what is differentiated next
        optimizer.zero_grad()
        critic(x).sum().backward()
        optimizer.step()


def accumulate(model, loader, optimizer):
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y)
        if step % 4 == 0:
            # trap: accumulation
            optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Halves:
    def reset_grads(self):
        self.first.zero_grad()
        self.second.zero_grad()

    def grad_norm(self):
        self.first.zero_grad()
        return self.norm

    def train(self, model, loader):
        for x in loader:
            # trap: before the forward
            self.reset_grads()
            loss = model(x).sum()
            # trap: it does more than to clear
            self.grad_norm()
            loss.backward()
            self.first.step()

    def late(self, model, loader):
        for x in loader:
            loss = model(x).sum()
            self.reset_grads()  # expect: PLM022
            loss.backward()
            self.first.step()


class Items:
    def __init__(self, model, optimizer, criterion):
        self.model, self.optimizer, self.criterion = model, optimizer, criterion

    def fit(self, loader):
        for batch in loader:
            self.late(batch, is_train=True)
            self.early(batch, is_train=True)

    def late(self, batch, is_train):
        batch["out"] = self.model(batch["x"])
        batch["loss"] = self.criterion(batch["out"], batch["y"])
        if is_train:
            self.optimizer.zero_grad()  # expect: PLM022
            batch["loss"].backward()
            self.optimizer.step()
        return batch["loss"].item()

    def early(self, batch, is_train):
        if is_train:
            self.optimizer.zero_grad()  # trap: before the forward
        batch["out"] = self.model(batch["x"])
        batch["loss"] = self.criterion(batch["out"], batch["y"])
        if is_train:
            batch["loss"].backward()
            self.optimizer.step()
        return batch["loss"].item()
