from torch import nn


class Stacked(nn.Module):
    def __init__(self, width, layers):
        super().__init__()
        cells = [nn.GRU(width, width) for _ in range(layers)]
        self.cells = nn.ModuleList(cells)
        self.mixers = nn.ModuleList([nn.Bilinear(width, width, width) for _ in range(layers)])
        self.states = [None] * layers
        self.kept = [None] * layers
        self.extra = [None] * layers

    def forward(self, x):
        for i, cell in enumerate(self.cells):
            x, self.states[i] = cell(x, self.states[i])  # expect: PLM006
        for i, cell in enumerate(self.cells):
            # trap: cut off below
            x, self.kept[i] = cell(x, self.kept[i])
        self.kept = [one.detach() for one in self.kept]
        for i, cell in enumerate(self.cells):
            # trap: another layer's
            x, last = cell(x, self.extra[i])
        return x
