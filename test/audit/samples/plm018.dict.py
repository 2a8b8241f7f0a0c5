import torch
from torch import nn


class GPT(nn.Module):
    def __init__(self, width, vocab):
        super().__init__()
        self.transformer = nn.ModuleDict(
            dict(wte=nn.Embedding(vocab, width), h=nn.ModuleList([nn.Linear(width, width)]), ln_f=nn.LayerNorm(width))
        )
        self.head = nn.Linear(width, vocab)
        self.register_buffer("norm", torch.zeros(1))
        self.register_buffer("calm", torch.zeros(1))

    def forward(self, idx):
        x = self.transformer.wte(idx)
        for block in self.transformer.h:
            x = block(x)
        x = self.transformer.ln_f(x)
        self.norm = 0.9 * self.norm + 0.1 * x.norm()  # expect: PLM018
        # trap: detached
        self.calm = 0.9 * self.calm + 0.1 * x.detach().norm()
        return self.head(x)

    @torch.no_grad()
    def generate(self, idx):
        return self(idx).argmax(-1)
