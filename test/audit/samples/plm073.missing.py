import torch
from torch import nn
from torch.distributions import Normal


class Painter(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Linear(width, 64).cuda()

    def noise(self, size):
        return Normal(torch.zeros(size, 8, device="cuda"), 1.0).sample()  # expect: PLM073

    def quiet(self, size):
        # trap: told not to
        return Normal(torch.zeros(size, 8, device="cuda"), 1.0, validate_args=False).sample()

    def shown(self, size):
        # trap: only for a look
        return Normal(torch.zeros(size, 8, device="cuda"), 0.5).sample()

    def first(self, size):
        # trap: kept, after the first time
        return Normal(torch.zeros(size, 8, device="cuda"), 2.0).sample()

    def forward(self, size=16, seeds=None):
        if seeds is None:
            seeds = self.noise(size) + self.quiet(size)
        if self.kept is None:
            self.kept = self.first(size)
        return self.body(seeds + self.kept)

    @torch.no_grad()
    def look(self, size):
        return self.body(self.shown(size))
