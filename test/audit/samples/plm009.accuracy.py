import torch
from torch.nn import functional as F


def words(model, loader, optimizer, vocab):
    model.train()
    for tokens, labels in loader:
        logits = model(tokens)  # expect: PLM009
        loss = F.cross_entropy(logits.view(-1, vocab), labels.view(-1))
        right = (logits.argmax(-1) == labels).float().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return right


def classes(model, loader, optimizer):
    model.train()
    for input_ids, labels in loader:
        # trap: one row of scores an example
        logits = model(input_ids)
        loss = F.cross_entropy(logits, labels)
        right = (logits.argmax(-1) == labels).float().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return right


def labelled(model, loader, optimizer, num_labels):
    model.train()
    for input_ids, labels in loader:
        # trap: one row of scores an example, however it is written
        logits = model(input_ids)
        loss = F.cross_entropy(logits.view(-1, num_labels), labels.view(-1))
        _, best = torch.max(logits, 1)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return best


def paired(model, loader, optimizer):
    model.train()
    for input_ids, labels in loader:
        # trap: two scores an example
        output = model(input_ids)
        loss = F.cross_entropy(output.view(-1, 2), labels.view(-1))
        best = output.argmax(dim=1)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return best


def guessed(model, loader, optimizer, vocab):
    model.train()
    for tokens, labels in loader:
        logits = model(tokens)  # expect: PLM009
        probs = torch.softmax(logits.detach(), dim=-1)
        loss = F.cross_entropy(logits.view(-1, vocab), labels.view(-1))
        right = (probs.argmax(-1) == labels).float().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return right


def classified(model, loader, optimizer):
    model.train()
    for input_ids, labels in loader:
        # trap: one row of scores an example, and of its probabilities
        logits = model(input_ids)
        probs = logits.softmax(-1)
        loss = F.cross_entropy(logits, labels)
        right = (probs.argmax(-1) == labels).float().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return right


def translated(model, loader, optimizer, vocab):
    model.train()
    for tokens, before, labels in loader:
        # trap: hands on what it gives
        output = model.decode(model.encode(tokens), before)
        logits = model.project(output)  # expect: PLM009
        loss = F.cross_entropy(logits.view(-1, vocab), labels.view(-1))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def rebuilt(model, loader, optimizer):
    model.train()
    for tokens, images in loader:
        # trap: pictures, and no scores
        pred = model.decode(tokens)
        loss = F.mse_loss(pred, images)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
