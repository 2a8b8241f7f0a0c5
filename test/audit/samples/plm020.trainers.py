"""A Trainer that is given its optimizer."""

import torch
import torch.nn.functional as F
from transformers import Trainer


class Pair(Trainer):
    def __init__(self, *args, big=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.big = big

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        # trap: who makes the optimizer may have put both into it
        return F.mse_loss(model(**inputs).logits, self.big(**inputs).logits)


def run(small, big, data):
    both = torch.optim.AdamW([*small.parameters(), *big.parameters()])
    # trap: both learn
    Pair(model=small, train_dataset=data, big=big, optimizers=(both, None)).train()
