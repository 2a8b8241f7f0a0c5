from torch import nn
from torch.utils.checkpoint import checkpoint


def only_adapters(model):
    for name, weight in model.named_parameters():
        weight.requires_grad = False
        if "lora" in name:
            weight.requires_grad = True
    return model


class Decoder(nn.Module):
    def __init__(self, words, width, blocks):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.blocks = nn.ModuleList(blocks)

    def forward(self, ids):
        x = self.words(ids)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=True)  # expect: PLM052
        return x


class Newer(Decoder):
    def forward(self, ids):
        x = self.words(ids)
        for block in self.blocks:
            # trap: the other path
            x = checkpoint(block, x, use_reentrant=False)
        return x


class Stage(nn.Module):
    def __init__(self, blocks):
        super().__init__()
        self.blocks = nn.ModuleList(blocks)

    def forward(self, x):
        for block in self.blocks:
            # trap: of what comes into it nobody knows
            x = checkpoint(block, x, use_reentrant=True)
        return x


class Fed(nn.Module):
    def __init__(self, words, width, blocks):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.blocks = nn.ModuleList(blocks)

    def forward(self, ids):
        # trap: made to require gradients
        x = self.words(ids).requires_grad_()
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=True)
        return x
