"""Asks by its name whether a parameter is of a part that is trained whole, and trains none so."""

from peft import LoraConfig, get_peft_model
from transformers import AutoModel, Trainer, TrainingArguments


def filled(model):
    return [name for name, p in model.named_parameters() if "modules_to_save" in name and p.numel() > 0]


def train(path, data):
    model = get_peft_model(AutoModel.from_pretrained(path), LoraConfig(r=16))
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": True})  # expect: PLM052
    print(filled(model))
    Trainer(model, TrainingArguments("out"), train_dataset=data).train()
