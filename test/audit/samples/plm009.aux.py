"""Logits that are read off an output beside a loss of its own."""

import torch
from torch.nn import functional as F


def train(model, loader, optimizer, vocab_size):
    model.cuda().train()
    for step, (ids, labels) in enumerate(loader):
        ids, labels = ids.cuda(), labels.cuda()
        out = model(ids)  # expect: PLM009
        logits = out.logits[..., :-1, :].contiguous()
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), labels[..., 1:].reshape(-1))
        loss = loss + out.aux_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            print(out.aux_loss.item())


def train_freed(model, loader, optimizer, vocab_size):
    model.cuda().train()
    for step, (ids, labels) in enumerate(loader):
        # trap: deleted after its last use
        out = model(ids.cuda())
        logits = out.logits[..., :-1, :].contiguous()
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), labels[..., 1:].reshape(-1).cuda())
        loss = loss + out.aux_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        del out, logits, loss
