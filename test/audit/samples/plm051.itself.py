import torch
from transformers import AutoModel


class RewardModel(torch.nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base = base

    def gradient_checkpointing_enable(self):
        self.base.gradient_checkpointing_enable()  # expect: PLM051, by hand


def train(name):
    model = RewardModel(AutoModel.from_pretrained(name))
    model.gradient_checkpointing_enable()  # expect: PLM051, by hand
    # trap: said
    model.base.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return model
