import torch
from losses import SplitCrossEntropyLoss

model = build().cuda()
criterion = SplitCrossEntropyLoss(400)
criterion = criterion.cuda()
optimizer = torch.optim.SGD(list(model.parameters()) + list(criterion.parameters()), lr=30)


def evaluate(batches):
    model.eval()
    total = 0
    for x, y in batches:
        output = model(x.cuda())
        # trap: `.data` has no graph
        total += len(x) * criterion(model.decoder.weight, output, y).data
    return total.item() / len(batches)


def train(batches):
    model.train()
    for x, y in batches:
        loss = criterion(model(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
    return evaluate(batches)
