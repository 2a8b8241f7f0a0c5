"""A frozen encoder of another object, on what `__init__` made once."""

import torch


class Trainer:
    def __init__(self, model, tokenizer, optimizer, device):
        self.model, self.optimizer = model, optimizer
        self.empty_ids = tokenizer([""], return_tensors="pt").input_ids.to(device)

    def train(self, loader):
        for ids in loader:
            self.train_one_step(ids)

    def train_one_step(self, ids):
        with torch.no_grad():
            empty = self.model.text_encoder(self.empty_ids)[0]  # expect: PLM080
            text = self.model.text_encoder(ids)[0]  # trap: of the batch
        loss = self.model(text, empty).mean()
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
