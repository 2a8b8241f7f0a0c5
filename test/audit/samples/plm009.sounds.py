"""Voices out of spectrograms: what is made is as long as the sound."""

import torch
import torch.nn.functional as F


def either(net, loader, optimizer, half):
    for mel, wave in loader:
        if half:
            with torch.autocast("cuda"):
                out = net(mel.cuda())  # expect: PLM009
        else:
            out = net(mel.cuda())
        loss = F.l1_loss(out, wave.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def counted(net, judge, loader, optimizer):
    for mel, wave in loader:
        made = net(mel.cuda())
        # trap: one number for each sound
        score = judge(made)
        loss = F.l1_loss(made, wave.cuda()) + F.softplus(-score).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def dropped(net, loader, optimizer):
    for mel, wave in loader:
        # trap: gone before the next forward
        out = net(mel.cuda())
        loss = F.l1_loss(out, wave.cuda())
        del out
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def now_and_then(net, probe, loader, optimizer):
    for at, (mel, wave) in enumerate(loader):
        if at % 100 == 0:
            # trap: not in each turn
            out = probe(mel.cuda())
            print(F.l1_loss(out, wave.cuda()).item())
        else:
            print(at)
        loss = F.l1_loss(net(mel.cuda()), wave.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
