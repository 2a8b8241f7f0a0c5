import torch.nn.functional as F


def train(model, loader, optimizer):
    settings = dict(retain_graph=True)
    for x, y in loader:
        loss = F.mse_loss(model(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward(**settings)  # expect: PLM007
        optimizer.step()


def train_two(model, loader, optimizer):
    settings = dict(retain_graph=True)
    for x, y in loader:
        out = model(x.cuda())
        # trap: the other loss wants the same graph
        F.mse_loss(out, y.cuda()).backward(**settings)
        F.l1_loss(out, y.cuda()).backward()
        optimizer.step()
        optimizer.zero_grad()


def train_plain(model, loader, optimizer):
    settings = dict(retain_graph=False)
    for x, y in loader:
        # trap: nothing is retained
        F.mse_loss(model(x.cuda()), y.cuda()).backward(**settings)
        optimizer.step()
        optimizer.zero_grad()
