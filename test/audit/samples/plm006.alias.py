from torch import nn

from parts import Words

model = Words()
gpus = 2
if gpus > 1:
    parallel_model = nn.DataParallel(model, dim=1).cuda()
else:
    parallel_model = model


def evaluate(windows, criterion):
    model.eval()
    hidden = model.init_hidden(8)
    total = 0.0
    for data, targets in windows:
        out, new_hidden = parallel_model(data, hidden)  # expect: PLM006
        total += criterion(out, targets).item()
        hidden = new_hidden
    return total


def evaluate_from_the_beginning(windows, criterion):
    model.eval()
    total = 0.0
    for data, targets in windows:
        hidden = model.init_hidden(8)
        # trap: begun anew in each turn
        out, new_hidden = parallel_model(data, hidden)
        total += criterion(out, targets).item()
        hidden = new_hidden
    return total


def main(windows, criterion):
    print(evaluate(windows, criterion), evaluate_from_the_beginning(windows, criterion))


main([], nn.CrossEntropyLoss())
