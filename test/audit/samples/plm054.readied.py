import torch
from transformers import AutoModelForCausalLM


def ready(model):
    model.train()
    model.config.use_cache = True  # expect: PLM054
    model.gradient_checkpointing_enable()
    return model


def train(name, accelerator, loader):
    model = ready(AutoModelForCausalLM.from_pretrained(name))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.train()
    for batch in loader:
        accelerator.backward(model(**batch).loss)
        optimizer.step()
    # trap: to generate with, after the training
    model.config.use_cache = True
    return model


def by_epochs(model, loader, train_one_epoch):
    model.train()
    train_one_epoch(model, loader)
    # trap: a helper has trained it
    model.config.use_cache = True
    return model
