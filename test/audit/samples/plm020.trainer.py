"""What a Trainer runs beside the model that it optimises."""

import torch
import torch.nn.functional as F
from transformers import Trainer


class Distils(Trainer):
    def __init__(self, *args, big=None, wise=None, fancy_loss=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.big = big
        self.wise = wise
        self.fancy_loss = fancy_loss

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        # trap: what is trained
        out = model(**inputs)
        theirs = self.big(**inputs)  # expect: PLM020
        with torch.no_grad():
            # trap: nothing is recorded
            others = self.wise(**inputs)
        # trap: a loss, and a method
        loss = self.fancy_loss(**inputs) + self.gap(**inputs)
        return loss + F.mse_loss(out.logits, theirs.logits) + F.mse_loss(out.logits, others.logits)

    def gap(self, **inputs):
        return inputs["x"].mean()
