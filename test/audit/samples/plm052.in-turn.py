from torch import nn
from torch.utils.checkpoint import checkpoint


class Writer(nn.Module):
    def __init__(self, words, places, width, blocks):
        super().__init__()
        self.body = nn.ModuleDict(
            dict(words=nn.Embedding(words, width), places=nn.Embedding(places, width), blocks=nn.ModuleList(blocks))
        )
        for table in (self.body.words, self.body.places):
            table.weight.requires_grad = False

    def forward(self, ids, places):
        x = self.body.words(ids) + self.body.places(places)
        for block in self.body.blocks:
            x = checkpoint(block, x, use_reentrant=True)  # expect: PLM052
        return x


class Placed(nn.Module):
    def __init__(self, words, places, width, blocks):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(places, width)
        self.blocks = nn.ModuleList(blocks)
        self.head = nn.Linear(width, words)
        for part in (self.words, self.head):
            for weight in part.parameters():
                weight.requires_grad = False

    def forward(self, ids, places):
        x = self.words(ids) + self.places(places)
        for block in self.blocks:
            # trap: the places still learn, and their gradients come through here
            x = checkpoint(block, x, use_reentrant=True)
        return self.head(x)


class Newer(Writer):
    def forward(self, ids, places):
        x = self.body.words(ids) + self.body.places(places)
        for block in self.body.blocks:
            # trap: the other path
            x = checkpoint(block, x, use_reentrant=False)
        return x


class Judge(nn.Module):
    def __init__(self, towers, width, blocks):
        super().__init__()
        self.towers = nn.ModuleList(towers)
        self.blocks = nn.ModuleList(blocks)
        for tower in (self.towers[0], self.towers[1]):
            tower.requires_grad_(False)

    def forward(self, x):
        for block in self.blocks:
            # trap: no table of its own
            x = checkpoint(block, x, use_reentrant=True)
        return x
