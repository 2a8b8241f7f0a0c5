import torch.nn.functional as F


def train(model, optimizer, features, labels, rows, held, fast):
    model.train()
    optimizer.zero_grad()
    output = model(features)
    loss = F.nll_loss(output[rows], labels[rows])
    loss.backward()
    optimizer.step()
    if not fast:
        model.eval()
        output = model(features)  # expect: PLM019
    print(loss.item(), F.nll_loss(output[held], labels[held]).item())


def frozen(model, optimizer, features, labels, still):
    if still:
        model.eval()
        # trap: this is the forward that learns
        output = model(features)
    else:
        output = model(features)
    loss = F.nll_loss(output, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def run(model, optimizer, features, labels, rows, held):
    model, features, labels = model.cuda(), features.cuda(), labels.cuda()
    for _ in range(200):
        train(model, optimizer, features, labels, rows, held, False)
        frozen(model, optimizer, features, labels, True)
