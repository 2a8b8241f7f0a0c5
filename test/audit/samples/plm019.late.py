"""Looks below the loop that trains, in the words of older programs, and by methods."""

import torch
from torch import nn
from torch.nn import functional as F
from torchvision.utils import save_image


class Painter(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)

    def forward(self, x):
        return self.body(x)

    def inference(self, x):
        return self.body(x).sigmoid()

    def sampling(self, amount):
        z = torch.randn(amount, 8, device="cuda")
        for _ in range(100):
            z = z - 0.1 * self.body(z)
        return z

    def sketch(self, amount):
        with torch.no_grad():
            return self.body(torch.randn(amount, 8, device="cuda"))


def fit(net, loader, validation_loader, optimizer, every):
    for step, (x, y) in enumerate(loader):
        loss = F.mse_loss(net(torch.autograd.Variable(x.cuda())), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % every == 0:
            net.eval()
            wrong = 0.0
            for x, y in validation_loader:
                x = torch.autograd.Variable(x.cuda())
                wrong += F.mse_loss(net(x), y.cuda()).item()  # expect: PLM019
            print(wrong)
            net.train()


def fit_against(net, loader, validation_loader, optimizer, every):
    for step, (x, y) in enumerate(loader):
        loss = F.mse_loss(net(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % every == 0:
            net.eval()
            wrong = 0.0
            for x, y in validation_loader:
                x = torch.autograd.Variable(x.cuda(), requires_grad=True)
                # trap: an example is made of its gradient
                harder = x + torch.autograd.grad(net(x).sum(), x)[0].sign()
                wrong += F.mse_loss(harder, y.cuda()).item()
            print(wrong)
            net.train()


def fit_and_score(net, features, labels, validation, optimizer):
    for _ in range(100):
        net.train()
        loss = F.cross_entropy(net(features), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.autocast("cuda"):
        net.eval()
        scores = net(validation[0])  # expect: PLM019
        right = accuracy(scores, validation[1])
    return net, right


def fit_and_hand_on(net, features, labels, validation, optimizer):
    for _ in range(100):
        net.train()
        loss = F.cross_entropy(net(features), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    net.eval()
    if validation is not None:
        # trap: who asked for it may differentiate it
        scores = net(validation[0])
        print(accuracy(scores, validation[1]))
    return scores


def accuracy(scores, labels):
    return (scores.max(1)[1] == labels).double().sum() / len(labels)


def paint(loader, test_loader):
    net = Painter().cuda()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for epoch in range(10):
        net.train()
        for x, y in loader:
            loss = F.mse_loss(net(x.cuda()), y.cuda())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        net.eval()
        drawn = net.sampling(36)  # expect: PLM019
        save_image(drawn, f"{epoch}.png")
        # trap: the method records nothing itself
        sketched = net.sketch(36)
        save_image(sketched, f"{epoch}.sketch.png")
    net.eval()
    for x, _ in test_loader:
        print(net.inference(x.cuda()).mean().item())  # expect: PLM019


def paint_frozen(net, test_loader):
    net = Painter().cuda()
    net.eval()
    net.freeze()
    for x, _ in test_loader:
        # trap: it is frozen as a whole
        print(net.inference(x.cuda()).mean().item())
