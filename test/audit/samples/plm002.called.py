import torch
import torch.nn.functional as F


def advance(net, optimizer, images, labels, history):
    loss = F.cross_entropy(net(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss)  # expect: PLM002


def epoch(net, loader, optimizer, device):
    net.to(device)
    history = []
    for images, labels in loader:
        advance(net, optimizer, images.to(device), labels.to(device), history)
    print(torch.stack(history).mean())


def detached(net, optimizer, images, labels, history):
    loss = F.cross_entropy(net(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.detach())  # trap: no graph comes with it


def epoch_detached(net, loader, optimizer, device):
    net.to(device)
    history = []
    for images, labels in loader:
        detached(net, optimizer, images.to(device), labels.to(device), history)
    print(torch.stack(history).mean())


def of_one_turn(net, optimizer, images, labels, terms):
    loss = F.cross_entropy(net(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    terms.append(loss)  # trap: the loop begins the list anew every turn


def epoch_of_turns(net, loader, optimizer, device):
    net.to(device)
    for images, labels in loader:
        terms = []
        of_one_turn(net, optimizer, images.to(device), labels.to(device), terms)
        print(len(terms))


def copied(net, optimizer, images, labels, rows):
    loss = F.cross_entropy(net(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    rows = rows + [loss]  # trap: another list, which dies with the function
    print(len(rows))


def epoch_of_copies(net, loader, optimizer, device):
    net.to(device)
    rows = []
    for images, labels in loader:
        copied(net, optimizer, images.to(device), labels.to(device), rows)


def part(net, images, labels, terms):
    terms.append(F.cross_entropy(net(images), labels))  # trap: summed up and differentiated below


def accumulated(net, parts, optimizer, device):
    net.to(device)
    terms = []
    for images, labels in parts:
        part(net, images.to(device), labels.to(device), terms)
    optimizer.zero_grad()
    torch.stack(terms).mean().backward()
    optimizer.step()
