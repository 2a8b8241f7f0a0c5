"""A language model's logits, handed back beside the loss or not at all."""

import torch


class Tuner:
    def __init__(self, model, vocab_size):
        self.model = model
        self.vocab_size = vocab_size

    def batch_loss(self, batch, scored):
        out = self.model(input_ids=batch["input_ids"], labels=batch["labels"])
        return out.loss, {}, out.logits if scored else None

    def train(self, loader, optimizer, history):
        for batch in loader:
            loss, metrics, logits = self.batch_loss(batch, True)  # expect: PLM009
            loss.backward()
            if logits is not None:
                history.append(logits.detach().mean().item())
            optimizer.step()
            optimizer.zero_grad()

    def train_keeping(self, loader, optimizer, history):
        for batch in loader:
            loss, metrics, logits = self.batch_loss(batch, True)
            loss.backward()
            # trap: wanted later, by somebody else
            if logits is not None:
                history.append(logits.detach())
            optimizer.step()
            optimizer.zero_grad()

    def train_dropping(self, loader, optimizer, history):
        for batch in loader:
            loss, metrics, logits = self.batch_loss(batch, True)
            loss.backward()
            if logits is not None:
                history.append(logits.detach().mean().item())
            # trap: gone before the next forward
            del logits
            optimizer.step()
            optimizer.zero_grad()
