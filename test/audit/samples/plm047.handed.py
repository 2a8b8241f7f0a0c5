"""A wrapper around a network, handed to the one who trains by its class."""

import torch
from transformers import AutoModelForCausalLM


class Writer:
    def __init__(self, name, device):
        self.net = AutoModelForCausalLM.from_pretrained(name).to(device)

    def rate(self, ids, mask):
        said = self.net(input_ids=ids, attention_mask=mask, output_hidden_states=True)  # expect: PLM047
        return torch.log_softmax(said.logits, dim=-1)


class Critic:
    def __init__(self, name, device):
        self.net = AutoModelForCausalLM.from_pretrained(name).to(device)

    def grade(self, ids, mask):
        # trap: only where the training is judged
        said = self.net(input_ids=ids, attention_mask=mask, output_hidden_states=True)
        return said.logits


class School:
    def __init__(self, writer: Writer, critic: Critic, optimizer):
        self.writer = writer
        self.critic = critic
        self.optimizer = optimizer

    def train(self, lines):
        for ids, mask, worth in lines:
            self.optimizer.zero_grad()
            loss = -(self.writer.rate(ids, mask).mean(-1) * worth).mean()
            loss.backward()
            self.optimizer.step()

    @torch.no_grad()
    def validate(self, lines):
        return [self.critic.grade(ids, mask).mean().item() for ids, mask in lines]
