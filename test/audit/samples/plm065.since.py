import torch
import torch.nn.functional as F


def train(net, loader, accumulate, epoch):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    last = -1
    for i, (x, y) in enumerate(loader):
        seen = i + len(loader) * epoch
        loss = F.cross_entropy(net(x), y)
        loss.backward()  # expect: PLM065
        if seen - last >= accumulate:
            optimizer.step()
            optimizer.zero_grad()
            last = seen


def ahead(net, loader, accumulate):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    done = 0
    last_step = 0
    for x, y in loader:
        done += 1
        loss = F.cross_entropy(net(x), y)
        loss.backward()  # expect: PLM065
        if done >= last_step + accumulate:
            optimizer.step()
            optimizer.zero_grad()
            last_step = done


def divided(net, loader, accumulate, epoch):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    last = -1
    for i, (x, y) in enumerate(loader):
        seen = i + len(loader) * epoch
        # trap: divided
        loss = F.cross_entropy(net(x), y) / accumulate
        loss.backward()
        if seen - last >= accumulate:
            optimizer.step()
            optimizer.zero_grad()
            last = seen


def on_clock(net, loader, patience):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    last = 0
    for i, (x, y) in enumerate(loader):
        loss = F.cross_entropy(net(x), y)
        optimizer.zero_grad()
        # trap: used up in each turn; what comes seldom is the saving
        loss.backward()
        optimizer.step()
        if i - last >= patience:
            torch.save(net.state_dict(), "net.pt")
            last = i
