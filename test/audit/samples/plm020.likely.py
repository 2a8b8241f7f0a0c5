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


class Quantizer(torch.nn.Module):
    def __init__(self, size, dim):
        super().__init__()
        self.register_buffer("codes", torch.randn(size, dim))
        self.t_model = TimeEncoding(dim)
        self.s_model = StateEncoding(dim)

    def look_up(self, indices):
        return F.embedding(indices, self.codes)

    def training_step(self, batch, optimizer):
        for x, indices, t in batch:
            # trap: rows of a buffer have no graph
            found = self.look_up(indices)
            # trap: a part of what learns, and no teacher
            loss = (self.s_model(x) * self.t_model(t) - found.detach()).pow(2).mean()
            loss.backward()
            optimizer.step()
