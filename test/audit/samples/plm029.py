import torch
import torch.nn.functional as F

device = torch.device("cuda")


def train(model, loader, optimizer):
    for x, y in loader:
        out = model(x.to(device))
        a = F.cross_entropy(out, y.to(device))
        b = torch.zeros(1, device=device)
        c = b * 2
        loss = a + b
        loss.backward()
        optimizer.step()
        print(loss.item(), b.item(), c.item())  # expect: PLM029


def unpacked(model, loader, optimizer):
    for x, y in loader:
        out = model(x.to(device))
        loss = F.cross_entropy(out, y.to(device))
        loss.backward()
        optimizer.step()
        a, b, c = loss.item(), out.mean().item(), out.std().item()  # expect: PLM029
        yield a, b, c


def listed(terms, model, loader, optimizer):
    for x in loader:
        loss = model(x.to(device)).mean()
        loss.backward()
        optimizer.step()
        yield {name: term.item() for name, term in terms.items()}  # expect: PLM029


def two(model, loader, optimizer):
    for x, y in loader:
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        # trap: only one
        print(loss.item())


def once(values):
    a = torch.zeros(1, device=device)
    # trap: not in a step
    return a.item(), a.item(), a.item()


def together(model, loader, optimizer):
    for x, y in loader:
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        # trap: one transfer
        print(torch.stack([loss, loss]).tolist())
