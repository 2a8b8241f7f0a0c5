"""A trainer of pairs, whose loss is computed without recording as well."""

import torch
import torch.nn.functional as F
from transformers import Trainer


class PairTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        loss, outputs = self.pair_loss(model, inputs)
        return (loss, outputs) if return_outputs else loss

    def pair_loss(self, model, inputs):
        outputs = model(inputs["input_ids"], attention_mask=inputs["attention_mask"])
        logits = outputs.logits[:, :-1].float()  # expect: PLM046
        # comparing chunk by chunk comes later
        targets = inputs["input_ids"][:, 1:]
        logps = F.log_softmax(logits, dim=-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1).sum(-1)
        chosen, rejected = logps.chunk(2, dim=0)
        return -F.logsigmoid(chosen - rejected).mean(), outputs

    def prediction_step(self, model, inputs, prediction_loss_only, ignore_keys=None):
        with torch.no_grad():
            loss = self.compute_loss(model, inputs)
            # trap: nothing is recorded, and nothing kept
            self.logps = self.scored(model, inputs)
        return loss.detach(), None, None

    def scored(self, model, inputs):
        outputs = model(inputs["input_ids"])
        logits = outputs.logits[:, :-1].float()
        return F.log_softmax(logits, dim=-1).gather(-1, inputs["input_ids"][:, 1:, None])


class PieceTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        logits = model(inputs["input_ids"]).logits[:, :-1]
        targets = inputs["input_ids"][:, 1:]
        total = 0.0
        # trap: piece by piece
        for some, wanted in zip(logits.chunk(8, dim=1), targets.chunk(8, dim=1)):
            total = total + F.cross_entropy(some.float().flatten(0, 1), wanted.flatten(), reduction="sum")
        # trap: in a function that goes through its pieces
        head = F.log_softmax(logits[:, :8].float(), dim=-1)
        return total + head.mean()
