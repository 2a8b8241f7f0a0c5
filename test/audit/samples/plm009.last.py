"""Outputs of which only the last are looked at, below the loop."""

import torch
import torch.nn.functional as F


def accumulate(model, optimizer, get_batch, steps, parts):
    for step in range(steps):
        for _ in range(parts):
            tokens, labels = get_batch()
            outputs = model(tokens, targets=labels)  # expect: PLM009
            loss = outputs["loss"] / parts
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 100 == 0:
            print((outputs["logits"].argmax(-1) == labels).float().mean().item())


def unpacked(model, optimizer, get_batch, steps, parts, vocab_size):
    for step in range(steps):
        for _ in range(parts):
            tokens, labels = get_batch()
            logits, loss = model(tokens, labels)  # expect: PLM009
            (loss / parts).backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 100 == 0:
            print(logits.detach().argmax(-1)[0].tolist())


def through_epochs(model, optimizer, loader, epochs, vocab_size):
    for _ in range(epochs):
        for tokens, labels in loader:
            outputs = model(tokens, labels=labels)  # expect: PLM009
            outputs.loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        print(outputs.loss.exp().item(), outputs.logits.std().item())


def wanted(model, optimizer, get_batch, steps, parts):
    for step in range(steps):
        for _ in range(parts):
            tokens, labels = get_batch()
            # trap: handed on whole, for whatever is made of them
            outputs = model(tokens, targets=labels)
            loss = outputs["loss"] / parts
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return outputs


def taken(model, optimizer, get_batch, steps, parts):
    best = None
    for step in range(steps):
        for _ in range(parts):
            tokens, labels = get_batch()
            outputs = model(tokens, targets=labels)
            loss = outputs["loss"] / parts
            loss.backward()
            best = outputs["logits"].argmax(-1)
            # trap: only the places are looked at below
            del outputs
        optimizer.step()
        optimizer.zero_grad()
        print((best == labels).float().mean())


def dropped(model, optimizer, get_batch, steps, parts):
    for step in range(steps):
        for _ in range(parts):
            tokens, labels = get_batch()
            outputs = model(tokens)  # expect: PLM009, by hand
            logits = outputs.logits
            loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten())
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        del (outputs, logits)
