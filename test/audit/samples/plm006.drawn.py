import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.rnn = nn.GRU(size, size)

    def forward(self, x, state):
        return self.rnn(x, state)


def train(data, size, length, optimizer):
    net = Net(size).cuda()
    for epoch in range(10):
        for x, y in data:
            out, _ = net(x, None)
            loss = (out - y).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        hidden = None
        letter = data.first()
        for _ in range(length):
            out, hidden = net(letter, hidden)  # expect: PLM006
            letter = torch.distributions.Categorical(logits=out).sample()
        hidden = None
        with torch.no_grad():
            for _ in range(length):
                # trap: no graph here
                out, hidden = net(letter, hidden)
                letter = out.argmax(-1)
        hidden = None
        for _ in range(length):
            out, hidden = net(letter, hidden)
            # trap: cut off before it goes on
            hidden = hidden.detach()
            letter = out.argmax(-1)
