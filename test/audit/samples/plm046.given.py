"""Functions of one's own that make the loss of the logits they are given."""

import torch
import torch.nn.functional as F
from transformers import Trainer

from scoring import answer_logps


class PreferenceTrainer(Trainer):
    @staticmethod
    def summed(scores, labels, mean):
        picked = scores[:, :-1].log_softmax(-1).gather(-1, labels[:, 1:, None]).squeeze(-1)
        return picked.mean(-1) if mean else picked.sum(-1)

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        logits = model(inputs["input_ids"]).logits.float()  # expect: PLM046
        half = logits.shape[0] // 2
        chosen = self.summed(logits[:half], inputs["labels"][:half], mean=True)
        rejected = self.summed(logits[half:], inputs["labels"][half:], mean=True)
        return -F.logsigmoid(chosen - rejected).mean()


class AnswerTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        def next_tokens(scores, ids):
            scores = scores[:, :-1].reshape(-1, scores.size(-1))
            return F.cross_entropy(scores, ids[:, 1:].reshape(-1))

        wide = model(inputs["input_ids"]).logits.to(torch.float32)  # expect: PLM046
        return next_tokens(wide, inputs["input_ids"])


class ImportedTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        logits = model(inputs["input_ids"]).logits
        return -answer_logps(logits.float(), inputs["labels"]).mean()  # expect: PLM046


class WatchedTrainer(Trainer):
    def agreement(self, scores, labels):
        return (scores.argmax(-1) == labels).float().mean()

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        outputs = model(input_ids=inputs["input_ids"], labels=inputs["labels"])
        # trap: the copy is looked at and goes; no loss is made of it
        self.agrees = self.agreement(outputs.logits.float(), inputs["labels"]).item()
        return outputs.loss
