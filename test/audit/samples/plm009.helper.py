import torch
import torch.nn.functional as F


def run_batch(model, tokens, labels):
    out = model(tokens)
    logits = out.view(-1, out.size(-1))
    return logits, F.cross_entropy(logits, labels.view(-1))


def measured(model, tokens, labels):
    outputs = len(labels)
    return outputs, F.cross_entropy(model(tokens).transpose(1, 2), labels)


def train(model, loader, optimizer, vocab_size):
    for tokens, labels in loader:
        logits, loss = run_batch(model, tokens.cuda(), labels.cuda())  # expect: PLM009
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def counted(model, loader, optimizer):
    for tokens, labels in loader:
        # trap: a number
        outputs, loss = measured(model, tokens.cuda(), labels.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
