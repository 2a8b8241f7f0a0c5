"""One row of scores a sentence."""

import torch.nn.functional as F


def scored(classifier, ids, labels):
    logits = classifier(input_ids=ids[:, 1:]).logits
    return F.cross_entropy(logits, labels), logits


def train(classifier, loader, optimizer, log_every):
    for step, batch in enumerate(loader):
        # trap: as small as the labels
        loss, logits = scored(classifier, batch["input_ids"], batch["labels"])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % log_every == 0:
            print(logits.std().item())
