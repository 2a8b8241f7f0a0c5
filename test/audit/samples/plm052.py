import torch.nn as nn
from peft import LoraConfig, get_peft_model
from torch.utils.checkpoint import checkpoint
from transformers import AutoModelForCausalLM, TrainingArguments


def build(name):
    model = AutoModelForCausalLM.from_pretrained(name)
    model = get_peft_model(model, LoraConfig(r=8))
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": True})  # expect: PLM052
    return model


def arguments():
    return TrainingArguments(
        "out",
        gradient_checkpointing=True,
        gradient_checkpointing_kwargs={"use_reentrant": True},  # expect: PLM052
    )


def silent(name):
    model = AutoModelForCausalLM.from_pretrained(name)
    model.gradient_checkpointing_enable({"use_reentrant": True})  # expect: PLM052
    model = get_peft_model(model, LoraConfig(r=8))
    # trap: the other path needs no input gradients
    model.gradient_checkpointing_enable({"use_reentrant": False})
    model.gradient_checkpointing_enable()  # expect: PLM052
    return model


class Stem(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.embed = nn.Embedding(10, 4)
        self.embed.requires_grad_(False)
        self.layers = nn.ModuleList(layers)

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=True)  # expect: PLM052
            # trap: the other path
            x = checkpoint(layer, x, use_reentrant=False)
        return x
