"""`nn` that comes in with all the names of another file."""

from layers import *


class Pool(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.attend = nn.MultiheadAttention(dim, 4)

    def forward(self, x):
        weights = self.attend(x, x, x)[1]  # trap: these are what is wanted
        return self.attend(x, x, x)[0] + weights.mean()  # expect: PLM067
