import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Encoder(nn.Module):
    def __init__(self, layers, width):
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.rel_embeddings = nn.Embedding(512, width)
        for param in self.rel_embeddings.parameters():
            param.requires_grad = False

    def forward(self, x):
        for layer in self.layers:
            # trap: positions are frozen, what goes in is not
            x = checkpoint(layer, x, self.rel_embeddings.weight, use_reentrant=True)
        return x


class Frozen(nn.Module):
    def __init__(self, layers, width):
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.word_embeddings = nn.Embedding(50000, width)
        for param in self.word_embeddings.parameters():
            param.requires_grad = False

    def forward(self, ids):
        x = self.word_embeddings(ids)
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=True)  # expect: PLM052
        return x
