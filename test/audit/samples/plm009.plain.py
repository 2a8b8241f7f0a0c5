"""Rows of a vocabulary under a plain name."""

from torch.nn import functional as F


def performance(scores, words):
    return F.cross_entropy(scores, words), scores.argmax(-1).eq(words).sum().item()


def train(net, loader, optimizer, vocab):
    for source, target, words in loader:
        out = net(source.cuda(), target.cuda())  # expect: PLM009
        scores = out.view(-1, out.size(-1))
        loss, found = performance(scores, words.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(found, vocab)
