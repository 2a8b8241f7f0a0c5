import torch
import torch.nn as nn


class Chosen(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.cell = cell
        self.state = None

    def forward(self, *given, mode="forward"):
        return getattr(self, "_" + mode)(*given)

    def _forward(self, words):
        state = self.state
        if state is None:
            state = words.new_zeros(1, 8)
        for word in words.unbind(1):
            out, state = self.turn(word, state)
        self.state = state  # expect: PLM006
        return out

    def turn(self, word, state):
        return self.cell(word, state)


class Paired(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.cell = cell
        self.hidden = None

    def forward(self, parts):
        return self.walk(parts)

    def walk(self, parts):
        h, c = self.hidden
        for part in parts:
            h, c = self.cell(part, (h, c))
        self.hidden = (h, c)  # expect: PLM006
        return h


class Cut(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.cell = cell
        self.state = None

    def _forward(self, parts):
        h, c = self.state
        for part in parts:
            h, c = self.cell(part, (h, c))
        self.state = (h.detach(), c.detach())
        return h


class Looked(nn.Module):
    """Nobody differentiates through what it is asked for after training."""

    def __init__(self, cell):
        super().__init__()
        self.cell = cell
        self.state = None

    def forward(self, parts):
        if not self.training:
            return self.answer(parts)
        return self.cell(parts, None)

    def answer(self, parts):
        state = self.state
        out, state = self.cell(parts, state)
        self.state = state
        return out


class Fresh(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.cell = cell
        self.state = None

    def _forward(self, parts):
        state = torch.zeros(1, 8)
        for part in parts:
            out, state = self.cell(part, state)
        self.state = state
        return out
