"""Segmentation: a class for each pixel."""

import torch


class Trainer:
    def __init__(self, model, criterion, optimizer, loader):
        self.model = model
        self.criterion = criterion
        self.optimizer = optimizer
        self.loader = loader
        self.temperature = 0.5

    def train(self):
        for images, masks in self.loader:
            outputs = self.model(images.cuda())
            logits = [out / self.temperature for out in outputs]  # expect: PLM048
            loss = self.criterion(logits, masks.cuda())
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def train_again(self):
        for images, masks in self.loader:
            outputs = self.model(images.cuda())
            # trap: the same name, which frees the list of the others
            outputs = [out / self.temperature for out in outputs]
            loss = self.criterion(outputs, masks.cuda())
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


class Segments(torch.nn.Module):
    def __init__(self, body, head, config):
        super().__init__()
        self.body = body
        self.head = head
        self.config = config

    def forward(self, input_ids, labels):
        cells = [self.body(part) for part in input_ids]
        logits = torch.cat([cell.logits for cell in cells], dim=1)
        scaled = logits / self.config.get("temperature", 1.0)  # expect: PLM048
        # trap: what has no more than one number for each place
        values = torch.cat([cell.value for cell in cells], dim=1)
        wanted = values / self.config.get("value_scale", 1.0)
        return torch.nn.functional.cross_entropy(scaled.flatten(0, 1), labels.flatten()) + wanted.mean()
