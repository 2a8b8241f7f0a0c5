import torch
from torch import nn


class Speaker(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.cell = nn.LSTM(width, width)
        self.word_state = None

    def forward(self, x, mode="train"):
        if mode == "train":
            return self.spoken(x.cuda())
        return self.guessed(x)

    def spoken(self, x):
        if self.word_state is None:
            self.word_state = (x.new_zeros(1, x.shape[1], 8), x.new_zeros(1, x.shape[1], 8))
        state = self.word_state
        said = []
        for word in x.split(1):
            out, later = self.cell(word, state)
            said.append(out)
            state, last = later, out
        self.word_state = state  # expect: PLM006
        return torch.cat(said)

    def guessed(self, x):
        return x


class Listener(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.cell = nn.LSTM(width, width)
        self.word_state = None

    def forward(self, x, again=False):
        if again:
            # trap: a plain run does not come here, and who asks for it may begin anew
            return self.heard(x.cuda())
        return x

    def heard(self, x):
        state = self.word_state
        out, later = self.cell(x, state)
        state, last = later, out
        self.word_state = state
        return out


class Cutting(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.cell = nn.GRU(width, width)
        self.word_state = None

    def forward(self, x, mode="train"):
        if mode == "train":
            return self.heard(x.cuda())
        return x

    def heard(self, x):
        state = self.word_state
        out, later = self.cell(x, state)
        # trap: cut off
        state, last = later.detach(), out
        self.word_state = state
        return out


def train(nets, loader, optimizer):
    for x in loader:
        loss = sum(net(x).mean() for net in nets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
