import torch

device = torch.device("cuda")


def unrecorded(net, batch):
    with torch.no_grad():
        marks = net(batch["crop"].to(device))
    return marks, batch["span"].to(device)


@torch.no_grad()
def decorated(net, batch):
    return net(batch["crop"].to(device))


def recorded(net, batch):
    return net(batch["crop"].to(device)), batch["span"].to(device)


def counted(net, batch):
    with torch.no_grad():
        marks = net(batch["crop"].to(device))
    return marks.argmax(1).cpu(), batch["span"]


def score(net, held_loader):
    net.eval()
    seen, wanted = [], []
    for batch in held_loader:
        marks, spans = unrecorded(net, batch)
        seen.append(marks)  # expect: PLM003
        wanted.append(spans)
    return torch.cat(seen), torch.cat(wanted)


def score_all(net, held_loader):
    net.eval()
    seen = []
    for batch in held_loader:
        seen.append(decorated(net, batch))  # expect: PLM003
    return torch.cat(seen)


def score_on_host(net, held_loader):
    net.eval()
    seen = []
    for batch in held_loader:
        guesses, _ = counted(net, batch)
        # trap: on the host, and a number an example
        seen.append(guesses)
    return torch.cat(seen)


def fit(net, optimizer, train_loader):
    for batches in train_loader:
        seen = []
        for batch in batches:
            marks, spans = recorded(net, batch)
            # trap: with their graphs, for the loss below
            seen.append(torch.nn.functional.cross_entropy(marks, spans))
        optimizer.zero_grad()
        torch.stack(seen).mean().backward()
        optimizer.step()


def distil(net, batch, train_loader):
    kept = []
    for one in train_loader:
        # trap: neither here nor there are gradients switched off
        kept.append(recorded(net, one)[0].sum())
    return kept
