"""A test of a whole set, which is one call after the training, and pictures drawn by a function that is handed the network."""

import torch
from torch.nn import functional as F
from torchvision.utils import save_image


def fit(net, x, y, weights):
    optimizer = torch.optim.LBFGS(net.parameters())

    def closure():
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        return loss

    for _ in range(10):
        optimizer.step(closure)
    return test_linear(net, x.cuda(), y.cuda()), explain_test(net, x), valid_scores(net, x, y)


def test_linear(net, x, y):
    net.eval()
    scores = net(x).squeeze()  # expect: PLM019
    return (scores.max(1)[1] == y).sum().item()


def explain_test(net, x):
    net.eval()
    x = x.clone().requires_grad_()
    # trap: what is wanted is its gradient
    scores = net(x)
    return torch.autograd.grad(scores.sum(), x)[0].abs().mean().item()


def valid_scores(net, x, y):
    net.eval()
    with torch.no_grad():
        # trap: nothing is recorded
        return (net(x).argmax(-1) == y).sum().item()


def test_shapes(net):
    net.eval()
    # trap: no training asks for it
    out = net(torch.zeros(2, 8, device="cuda"))
    print(out.shape, out.argmax(-1).tolist())


def draw(scale, net, steps, z):
    for at in range(steps):
        z = (z - scale * net(z, at)).detach()
    return z


def draw_quietly(scale, net, steps, z):
    with torch.no_grad():
        for at in range(steps):
            z = z - scale * net(z, at)
    return z


def guided(scale, net, steps, z):
    for at in range(steps):
        z.requires_grad_()
        z = (z - scale * torch.autograd.grad(net(z, at).sum(), z)[0]).detach()
    return z


def learn(net, loader, optimizer, epochs):
    for epoch in range(epochs):
        for x, at in loader:
            loss = F.mse_loss(net(x.cuda(), at.cuda()), x.cuda())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        z = torch.randn(16, 8, device="cuda")
        drawn = draw(0.1, net, 50, z)  # expect: PLM019
        save_image(drawn, f"{epoch}.png")
        # trap: the function records nothing itself
        quiet = draw_quietly(0.1, net, 50, z)
        save_image(quiet, f"{epoch}.quiet.png")
        # trap: each step of it asks for a gradient
        led = guided(0.1, net, 50, z)
        save_image(led, f"{epoch}.led.png")
