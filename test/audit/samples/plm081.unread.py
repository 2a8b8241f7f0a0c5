"""Copies that nobody reads."""

import torch


def train(net, loader, optimizer, board):
    net.cuda()
    for step, (x, y) in enumerate(loader):
        x = x.cuda()
        before = x.clone()  # expect: PLM081
        cut = x.detach().clone()  # expect: PLM081
        late = torch.clone(x).float()  # expect: PLM081
        # trap: read below, when x has been written into
        clean = x.clone()
        # trap: added to in place
        noisy = x.clone()
        noisy += 1
        x[:, 0] = 0
        if step % 100 == 0:
            board.add_image("clean", clean[0])
        loss = (net(x) - y.cuda()).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def attack(net, loader, optimizer):
    global kept
    for x, y in loader:
        # trap: for whoever asks the module for it
        kept = x.clone()
        x[:, 0] = 0
        loss = (net(x) - y).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
