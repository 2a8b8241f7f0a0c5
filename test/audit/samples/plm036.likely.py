import torch
import torch.nn as nn


class Attended(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attend = nn.MultiheadAttention(width, 4)
        self.table = nn.Embedding(16, width)
        self.gate = nn.Linear(width, width)

    def forward(self, x):
        self.attend = self.attend.to(x.device)  # expect: PLM036
        # trap: looked up, and not moved
        x = x + self.table(x.argmax(-1)).to(x.device)
        # trap: what came out of it is moved
        return self.attend(x, x, self.gate(x).to(x.device))[0]
