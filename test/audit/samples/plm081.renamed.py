"""Copies of logits that are cut under another name, and then read or written."""

import torch.nn.functional as F
from transformers import Trainer


class Read(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        out = model(input_ids=inputs["input_ids"])
        scores = out.logits.clone()  # expect: PLM081
        scores = scores[:, :-1]
        width = scores.shape[-1]
        loss = F.cross_entropy(scores.reshape(-1, width), inputs["input_ids"][:, 1:].reshape(-1))
        return (loss, out) if return_outputs else loss


class Halves(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        out = model(input_ids=inputs["input_ids"])
        both = out.logits.clone()  # expect: PLM081
        one, other = both[:4], both[4:]
        loss = F.kl_div(one.log_softmax(-1), other.softmax(-1))
        return (loss, out) if return_outputs else loss


class Written(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        out = model(input_ids=inputs["input_ids"])
        copied = out.logits.clone()
        # trap: written into under its other name, and the first one is handed back
        shifted = copied[:, :-1]
        shifted[:, 0] = 0.0
        loss = F.cross_entropy(shifted.flatten(0, 1), inputs["input_ids"][:, 1:].flatten())
        return (loss, out) if return_outputs else loss


class Divided(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        out = model(input_ids=inputs["input_ids"])
        copied = out.logits.clone()
        shifted = copied[:, :-1]
        # trap: in place
        shifted /= 0.7
        loss = F.cross_entropy(shifted.flatten(0, 1), inputs["input_ids"][:, 1:].flatten())
        return (loss, out) if return_outputs else loss


class Together(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        out = model(input_ids=inputs["input_ids"])
        copied = out.logits.clone()
        # trap: one of the two is written into
        one, other = copied[:4], copied[4:]
        other.clamp_(-10.0, 10.0)
        loss = F.kl_div(one.log_softmax(-1), other.softmax(-1))
        return (loss, out) if return_outputs else loss
