import torch  # noqa: F401


def train(model, loader, held_out, optimizer, evaluate):
    for epoch in range(3):
        for x in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
        evaluate(model, held_out)  # expect: PLM023


def cleared(model, loader, held_out, optimizer, evaluate):
    for epoch in range(3):
        for x in loader:
            model(x).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
        # trap: cleared after each step
        evaluate(model, held_out)


def between(model, loader, held_out, optimizer, evaluate):
    for epoch in range(3):
        for x in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
        optimizer.zero_grad()
        # trap: cleared before
        evaluate(model, held_out)


def none(model, loader, optimizer, save):
    for epoch in range(3):
        for x in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
        # trap: no evaluation
        save(model)
