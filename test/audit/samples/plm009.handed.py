import torch
import torch.nn.functional as F


class Speech:
    def __init__(self, model, optimizer, ctc):
        self.model = model
        self.optimizer = optimizer
        self.ctc = ctc

    def run(self, batch):
        sounds, words, sizes, counts = batch
        moments, attn = self.model(sounds)
        loss = self.ctc(moments.log_softmax(dim=2).transpose(0, 1), words, sizes, counts)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return {"loss": loss.item()}, (moments, attn)

    def fit(self, loader):
        figures = []
        for batch in loader:
            one, (moments, attn) = self.run(batch)  # expect: PLM009
            figures.append(one)
            print(attn.max().item())
        return figures

    def gather(self, loader, kept):
        for batch in loader:
            # trap: somebody else keeps them as well
            one, (moments, attn) = self.run(batch)
            kept.append((moments, attn))

    def clear(self, loader):
        for batch in loader:
            # trap: gone before the next forward
            one, (moments, attn) = self.run(batch)
            print(one, attn.max().item())
            del moments, attn


class Frames:
    def __init__(self, encoder, decoder, optimizer):
        self.encoder = encoder
        self.decoder = decoder
        self.optimizer = optimizer

    def train(self, frames):
        hidden = self.encoder(frames[0])
        made = self.decoder(hidden)
        loss = F.mse_loss(made, frames[1])
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item(), made

    def small(self, states, returns):
        value = self.decoder(states)
        loss = F.mse_loss(value, returns)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item(), value

    @torch.no_grad()
    def watch(self, frames):
        return self.decoder(self.encoder(frames[0])), frames[1]

    def fit(self, loader):
        for frames in loader:
            mse, made = self.train(frames)  # expect: PLM009
            # trap: a number for each example, for all that is known
            error, value = self.small(frames[0], frames[1])
            print(mse, error, made.min().item(), value.mean().item())


def score(model, ids, targets):
    logits = model(ids)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    return loss, logits


def fit(model, loader, optimizer):
    for ids, targets in loader:
        loss, logits = score(model, ids, targets)  # expect: PLM009
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(logits.max().item())
