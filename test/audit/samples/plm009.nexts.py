"""Rows of a vocabulary, by the next tokens that they foretell."""

import torch
import torch.nn.functional as F


def seq_logps(logits, ids):
    return F.log_softmax(logits[:, :-1].float(), -1).gather(-1, ids[:, 1:, None]).sum(1)


def prefer(net, loader, optimizer):
    for better, worse in loader:
        liked = net(better.cuda())
        # trap: a name that says nothing of them
        logps = seq_logps(liked, better.cuda())
        worse_logits = net(worse.cuda())  # expect: PLM009
        loss = seq_logps(worse_logits, worse.cuda()).mean() - logps.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def dropped(net, loader, optimizer):
    for better, _ in loader:
        # trap: deleted
        better_logits = net(better.cuda())
        loss = -seq_logps(better_logits, better.cuda()).mean()
        del better_logits
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def within(net, loader, optimizer):
    for better, _ in loader:
        # trap: bound to no name
        loss = -seq_logps(net(better.cuda()), better.cuda()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
