import torch
from torch.optim import SGD

from utils import get_params


def train(loader, model, optimizer, criterion):
    # for its norms alone
    model.eval()
    for x, y in loader:
        # trap: a helper handed the parameters of its parts to the optimizer
        loss = criterion(model(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main(model, loader, criterion):
    model = model.cuda()
    optimizer = SGD(get_params(model.encoder, ["layer1", "fc"]), lr=0.1)
    train(loader, model, optimizer, criterion)
