import torch
from torch import nn


class Speaker(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.rnn = nn.GRU(width, width)
        self.head = nn.Linear(width, words)

    def forward(self, x, hidden):
        out, hidden = self.rnn(x, hidden)
        return self.head(out), hidden


def evaluate(model, windows, criterion):
    hidden = None
    total = 0.0
    for data, targets in windows:
        out, hidden = model(data, hidden)  # expect: PLM006
        total += criterion(out, targets).item()
    return total


@torch.no_grad()
def evaluate_plainly(model, windows, criterion):
    hidden = None
    total = 0.0
    for data, targets in windows:
        # trap: nothing is recorded
        out, hidden = model(data, hidden)
        total += criterion(out, targets).item()
    return total


def evaluate_cut(model, windows, criterion):
    hidden = None
    total = 0.0
    for data, targets in windows:
        # trap: cut off in every turn
        out, hidden = model(data, hidden)
        hidden = hidden.detach()
        total += criterion(out, targets).item()
    return total


def reinforce(model, env, optimizer):
    hidden = None
    losses = []
    for step in range(100):
        # trap: the episode is differentiated as a whole
        out, hidden = model(env.look(), hidden)
        losses.append(-out.log_softmax(-1)[0, 0, 0])
    loss = torch.stack(losses).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main(windows, env):
    model = Speaker(100, 32).to("cuda")
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(10):
        for data, targets in windows:
            out, _ = model(data.to("cuda"), None)
            loss = criterion(out, targets.to("cuda"))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        reinforce(model, env, optimizer)
        print(evaluate(model, windows, criterion), evaluate_plainly(model, windows, criterion))
        print(evaluate_cut(model, windows, criterion))


def train_cut(model, windows, criterion, optimizer):
    hidden = None
    for data, targets in windows:
        # trap: cut off in the old way
        out, hidden = model(data.to("cuda"), hidden)
        hidden = hidden.data
        loss = criterion(out, targets.to("cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def evaluate_under_names(parallel_model, windows, criterion):
    hidden = None
    total = 0.0
    for data, targets in windows:
        out, new_hidden = parallel_model(data, hidden)  # expect: PLM006
        total += criterion(out, targets).item()
        hidden = new_hidden
    return total


def evaluate_cut_under_names(parallel_model, windows, criterion):
    hidden = None
    total = 0.0
    for data, targets in windows:
        # trap: cut off before it is handed on
        out, new_hidden = parallel_model(data, hidden)
        new_hidden.detach_()
        total += criterion(out, targets).item()
        hidden = new_hidden
    return total


def evaluate_anew(parallel_model, windows, criterion):
    hidden = None
    total = 0.0
    for data, targets in windows:
        # trap: nobody carries it on
        out, new_hidden = parallel_model(data, hidden)
        total += criterion(out, targets).item() + new_hidden.norm().item()
    return total


def alone(model, gpus, windows, criterion):
    if gpus > 1:
        parallel_model = nn.DataParallel(model, dim=1)
    else:
        parallel_model = model
    total = evaluate_in_pairs(parallel_model, windows, criterion)
    total += evaluate_under_names(parallel_model, windows, criterion)
    total += evaluate_cut_under_names(parallel_model, windows, criterion)
    return total + evaluate_anew(parallel_model, windows, criterion)


def evaluate_in_pairs(model, windows, criterion):
    state = None
    total = 0.0
    for data, targets in windows:
        out, (h, c) = model(data, state)  # expect: PLM006
        total += criterion(out, targets).item()
        state = (h, c)
    return total
