import torch
import torch.nn as nn
from torchvision.utils import save_image


class Gan:
    def __init__(self):
        self.G = nn.Sequential(nn.Linear(4, 4)).cuda()
        self.D = nn.Sequential(nn.Linear(4, 1)).cuda()
        self.optimizer = torch.optim.Adam(self.G.parameters(), lr=1e-4, fused=True)

    def learn(self, x):
        loss = self.D(self.G(x)).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def train(self):
        self.G.train()
        self.D.train()

    def eval(self):
        self.G.eval()
        self.D.eval()


def fit(gan: Gan, loader, fixed, every):
    for step, x in enumerate(loader):
        gan.train()
        gan.learn(x.cuda())
        if (step + 1) % every == 0:
            gan.eval()
            shown = [fixed]
            for part in fixed.split(4):
                shown.append(gan.G(part))  # expect: PLM019
            save_image(torch.cat(shown), f"{step}.png")


def guarded(gan: Gan, loader, fixed, every):
    for step, x in enumerate(loader):
        gan.train()
        gan.learn(x.cuda())
        if (step + 1) % every == 0:
            gan.eval()
            # trap: nothing is recorded
            with torch.no_grad():
                save_image(gan.G(fixed), f"{step}.png")


def saved(gan: Gan, loader, every):
    for step, x in enumerate(loader):
        gan.train()
        gan.learn(x.cuda())
        if (step + 1) % every == 0:
            gan.eval()
            # trap: nothing is run
            torch.save(gan.G.state_dict(), f"{step}.pt")


def edited(gan: Gan, loader, fixed, every):
    for step, x in enumerate(loader):
        gan.train()
        gan.learn(x.cuda())
        if (step + 1) % every == 0:
            gan.eval()
            z = fixed.clone().requires_grad_()
            # trap: the picture is differentiated
            gan.G(z).sum().backward()
            save_image(z.grad, f"{step}.png")
