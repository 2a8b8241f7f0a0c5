import torch


def words(model, loader, optimizer, log_every):
    model.train()
    for step, (tokens, targets) in enumerate(loader):
        logits, loss = model(tokens, targets)  # expect: PLM009
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % log_every == 0:
            print((logits.argmax(dim=-1) == targets).float().mean().item())


def shown(model, loader, optimizer, keep):
    model.train()
    for tokens, targets in loader:
        # trap: somebody else has it
        logits, loss = model(tokens, targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        keep(logits)


def rows(model, loader, optimizer):
    model.train()
    for tokens, targets in loader:
        # trap: the second dimension is that of the scores: one row an example
        logits, loss = model(tokens, targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print((torch.argmax(logits, dim=1) == targets).float().mean().item())


def unasked(model, loader, optimizer, log_every, check):
    model.train()
    for step, (tokens, targets) in enumerate(loader):
        _, loss = model(tokens, targets)  # expect: PLM009
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % log_every == 0:
            _, checked = model(*check)
            print(checked.item())


def replaced(model, loader, optimizer):
    model.train()
    for tokens, targets in loader:
        # trap: the name means a number before the next forward
        _, loss = model(tokens, targets)
        loss.backward()
        for _ in range(2):
            optimizer.step()
        optimizer.zero_grad()


def alone(model, loader, optimizer):
    model.train()
    for tokens in loader:
        # trap: without targets it may be anything
        _, loss = model(tokens)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
