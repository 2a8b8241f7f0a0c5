import torch
from torch import nn


class Lora(nn.Module):
    def __init__(self, rank, width):
        super().__init__()
        self.lora_a = nn.ParameterList([nn.Parameter(torch.zeros(1, width)) for _ in range(rank)])
        self.blocks = nn.ModuleList([nn.Linear(width, width) for _ in range(rank)])

    def choose(self, rank):
        for i in range(rank):
            # trap: a parameter of a list of them
            self.lora_a[i].requires_grad = False
            self.blocks[i].requires_grad = False  # expect: PLM077
