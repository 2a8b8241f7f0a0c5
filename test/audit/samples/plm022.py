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
