import torch


def evaluate(model, data, criterion):
    model.eval()
    total = 0.0
    for x, y in data:
        total += criterion(model(x.cuda()), y.cuda()).item()  # expect: PLM019
    return total


def judge(model, data, criterion):
    model.eval()
    total = 0.0
    for x, y in data:
        # trap: each of its callers switches recording off
        total += criterion(model(x.cuda()), y.cuda()).item()
    return total


def train(model, data, held, criterion, optimizer):
    for _ in range(10):
        model.train()
        for x, y in data:
            criterion(model(x.cuda()), y.cuda()).backward()
            optimizer.step()
            optimizer.zero_grad()
        print(evaluate(model, held, criterion))
        with torch.no_grad():
            print(evaluate(model, held, criterion), judge(model, held, criterion))


if __name__ == "__main__":
    train(*build())
