import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, vocab_size):
        super().__init__()
        self.lm_head = nn.Linear(8, vocab_size)

    def forward(self, x, labels, scores):
        logits = self.lm_head(x)
        logits = logits.float()  # expect: PLM046
        # trap: other numbers
        weight = scores.float()
        loss = F.cross_entropy(logits.view(-1, 8), labels.view(-1), weight=weight)
        with torch.no_grad():
            # trap: no backward
            F.cross_entropy(logits.float(), labels)
        return loss

    def predict(self, x):
        # trap: no loss
        return self.lm_head(x).float().argmax(-1)


class Trained(Model):
    def widened(self, logits):
        return logits.float()  # expect: PLM046

    def shown(self, logits):
        # trap: only looked at
        return logits.float()

    def training_step(self, x, labels):
        logits = self.lm_head(x)
        self.last = self.shown(logits).argmax(-1)
        F.cross_entropy(self.widened(logits).view(-1, 8), labels.view(-1)).backward()
