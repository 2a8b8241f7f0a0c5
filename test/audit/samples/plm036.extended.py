import torch
from torch import nn


class Mixing(nn.Module):
    def mix(self, q, k):
        return q * k


class Gated(Mixing):
    def __init__(self, width, place, first):
        super().__init__()
        self.place = place
        self.first = first
        self.gate = nn.Parameter(torch.zeros(1, width))

    def mix(self, q, k):
        mixed = super().mix(q, k)
        if self.place < self.first:
            return mixed
        return mixed + self.gate.to(mixed.dtype) * mixed  # expect: PLM036

    def load_state_dict(self, state, strict=True):
        found = super().load_state_dict(state, strict)
        # trap: once, when it is loaded
        self.gate.data = self.gate.to(state.dtype)
        return found

    def shown(self, q):
        # trap: nobody has it called
        return self.gate.to(q.dtype)
