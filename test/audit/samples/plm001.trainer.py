import torch
from transformers import Trainer

from ours import LoopTrainer


class Scaled(Trainer):
    def training_step(self, model, inputs):
        model.train()
        loss = self.compute_loss(model, self._prepare_inputs(inputs))
        if self.args.gradient_accumulation_steps > 1:
            loss = loss / self.args.gradient_accumulation_steps
        if self.use_amp:
            self.scaler.scale(loss).backward()
        else:
            loss.backward()
        return loss  # expect: PLM001


class Detached(Trainer):
    def training_step(self, model, inputs):
        loss = self.compute_loss(model, inputs)
        loss.backward()
        # trap: a number as good as any
        return loss.detach()


class Reassigned(Trainer):
    def training_step(self, model, inputs):
        loss = self.compute_loss(model, inputs)
        self.accelerator.backward(loss)
        loss = loss.detach() / self.args.gradient_accumulation_steps
        # trap: what is returned was cut off above
        return loss


class Sums(Trainer):
    def training_step(self, model, inputs):
        loss = self.compute_loss(model, inputs)
        loss.backward()
        # trap: its own loop reads a number out of it
        return loss

    def train(self):
        total = 0.0
        for inputs in self.get_train_dataloader():
            total += self.training_step(self.model, inputs).item()
            self.optimizer.step()
        return total


class Undifferentiated(Trainer):
    def training_step(self, model, inputs):
        # trap: who called it differentiates it
        loss = self.compute_loss(model, inputs)
        return loss


class Others(LoopTrainer):
    def training_step(self, model, inputs):
        loss = model(**inputs).loss
        loss.backward()
        return loss  # likely: PLM001
