import torch
import torch.nn.functional as F


def token_accuracy(logits, labels):
    return (logits.argmax(-1) == labels).float().mean()


def train_step(net, tokens, labels):
    logits = net(tokens)
    loss = F.cross_entropy(logits.transpose(1, 2), labels)
    loss.backward()
    return loss.detach(), logits.detach()


def handed(net, loader, optimizer, vocab):
    net.train()
    for tokens, labels in loader:
        loss, logits = train_step(net, tokens, labels)  # expect: PLM009
        accuracy = token_accuracy(logits, labels)
        optimizer.step()
        optimizer.zero_grad()
        print(float(loss), float(accuracy))


def later(net, loader, optimizer, vocab):
    net.train()
    kept = None
    for tokens, labels in loader:
        # trap: the next turn compares with them
        if kept is not None:
            print(token_accuracy(kept, labels))
        loss, kept = train_step(net, tokens, labels)
        optimizer.step()
        optimizer.zero_grad()


def gone(net, loader, optimizer, vocab):
    net.train()
    for tokens, labels in loader:
        loss, logits = train_step(net, tokens, labels)
        accuracy = token_accuracy(logits, labels)
        # trap: deleted already
        del logits
        optimizer.step()
        optimizer.zero_grad()
        print(float(loss), float(accuracy))
