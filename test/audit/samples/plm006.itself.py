import torch.nn as nn


class Language(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.rnn = nn.LSTM(width, width)
        self.head = nn.Linear(width, words)

    def forward(self, tokens, hidden):
        out, hidden = self.rnn(self.embed(tokens), hidden)
        return self.head(out), tuple(state.detach() for state in hidden)


def train(model, loader, optimizer):
    model.train()
    hidden = None
    for x, y in loader:
        # trap: the one network that it can be cuts it off itself
        out, hidden = model(x, hidden)
        (out - y).pow(2).mean().backward()
        optimizer.step()
