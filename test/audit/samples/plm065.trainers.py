import torch
from transformers import Trainer


class CTCTrainer(Trainer):
    def training_step(self, model, inputs):
        model.train()
        inputs = self._prepare_inputs(inputs)
        loss = self.compute_loss(model, inputs)
        if self.use_amp:
            self.scaler.scale(loss).backward()  # likely: PLM065
        else:
            loss.backward()
        return loss.detach()


class Divided(Trainer):
    def training_step(self, model, inputs):
        loss = self.compute_loss(model, self._prepare_inputs(inputs))
        if self.args.gradient_accumulation_steps > 1:
            loss = loss / self.args.gradient_accumulation_steps
        # trap: divided
        loss.backward()
        return loss.detach()


class Accelerated(Trainer):
    def training_step(self, model, inputs):
        loss = self.compute_loss(model, self._prepare_inputs(inputs))
        # trap: divides by itself
        self.accelerator.backward(loss)
        return loss.detach()


class Looped(Trainer):
    def training_step(self, model, inputs):
        loss = self.compute_loss(model, inputs)
        # trap: the loop is its own, and adds up nothing
        loss.backward()
        return loss.detach()

    def train(self):
        for inputs in self.get_train_dataloader():
            self.training_step(self.model, inputs)
            self.optimizer.step()
            self.optimizer.zero_grad()


class Plain:
    def training_step(self, model, inputs):
        loss = model(inputs).mean()
        # trap: no Trainer
        loss.backward()
        return loss.detach()
