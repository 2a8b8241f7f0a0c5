import torch.nn.functional as F


def advance(net, optimizer, images, labels, total, seen):
    loss = F.cross_entropy(net(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss  # expect: PLM001
    seen += len(images)
    return total, seen


def epoch(net, loader, optimizer, device):
    net.to(device)
    total, seen = 0.0, 0
    for images, labels in loader:
        total, seen = advance(net, optimizer, images.to(device), labels.to(device), total, seen)
    return total / seen


def into_entries(net, optimizer, images, labels, sums):
    loss = F.cross_entropy(net(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    sums["loss"] += loss  # expect: PLM001


def epoch_of_entries(net, loader, optimizer, device):
    net.to(device)
    sums = {"loss": 0.0}
    for images, labels in loader:
        into_entries(net, optimizer, images.to(device), labels.to(device), sums)
    print(sums["loss"] / len(loader))


def not_handed_back(net, optimizer, images, labels, best):
    loss = F.cross_entropy(net(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    best += loss  # trap: dies with the function
    print(f"{best:.3f}")


def epoch_without(net, loader, optimizer, device):
    net.to(device)
    best = 0.0
    for images, labels in loader:
        not_handed_back(net, optimizer, images.to(device), labels.to(device), best)


def of_one_turn(net, optimizer, images, labels, shown):
    loss = F.cross_entropy(net(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    shown += loss  # trap: the loop begins it anew every turn
    return shown


def epoch_of_turns(net, loader, optimizer, device):
    net.to(device)
    for images, labels in loader:
        shown = 0.0
        shown = of_one_turn(net, optimizer, images.to(device), labels.to(device), shown)
        print(f"{shown:.3f}")


def under_another_name(net, optimizer, images, labels, last):
    loss = F.cross_entropy(net(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    last = last + loss  # trap: the next turn is handed what was there before the loop
    return last


def epoch_of_others(net, loader, optimizer, device):
    net.to(device)
    bias = 0.0
    for images, labels in loader:
        moved = under_another_name(net, optimizer, images.to(device), labels.to(device), bias)
        print(f"{moved:.3f}")


def now_and_then(net, optimizer, images, labels, waiting, turn):
    loss = F.cross_entropy(net(images), labels)
    waiting = waiting + loss  # trap: the sum is what is differentiated
    if (turn + 1) % 4 == 0:
        optimizer.zero_grad()
        waiting.backward()
        optimizer.step()
        waiting = 0.0
    return waiting


def epoch_of_sums(net, loader, optimizer, device):
    net.to(device)
    waiting = 0.0
    for turn, (images, labels) in enumerate(loader):
        waiting = now_and_then(net, optimizer, images.to(device), labels.to(device), waiting, turn)
