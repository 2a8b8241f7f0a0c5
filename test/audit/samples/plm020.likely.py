import torch
import torch.nn.functional as F


def train(loader, model, prior, optimizer):
    for images, labels in loader:
        images = images.cuda()
        found = model.encoder(images)  # likely: PLM020
        codes = model.codebook(found).detach()
        # trap: it goes on to the loss
        own = prior.encoder(images)
        logits = prior(codes) + own
        loss = F.cross_entropy(logits, labels.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def still(loader, model, prior, optimizer):
    for images, labels in loader:
        with torch.no_grad():
            # trap: nothing is recorded
            found = model.encoder(images.cuda())
        logits = prior(model.codebook(found).detach())
        loss = F.cross_entropy(logits, labels.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
