import torch
import torch.nn.functional as F
from torchvision.utils import save_image

from nets import Generator, Discriminator

G = Generator().cuda()
D = Discriminator().cuda()
optim_g = torch.optim.Adam(G.parameters())
optim_d = torch.optim.Adam(D.parameters())


def train_g(count):
    x_fake = G(torch.randn(count, 64).cuda())
    loss = F.softplus(-D(x_fake)).mean()
    optim_g.zero_grad()
    loss.backward()
    optim_g.step()
    return {"g": loss.detach()}, x_fake


def train_d(real):
    scores_fake = D(G(torch.randn(len(real), 64).cuda()).detach())
    loss = F.softplus(scores_fake).mean() + F.softplus(-D(real)).mean()
    optim_d.zero_grad()
    loss.backward()
    optim_d.step()
    return {"d": loss.detach()}, scores_fake


for step, real in enumerate(loader):
    # trap: a number for each example
    figures, scores = train_d(real.cuda())
    if step % 5 == 0:
        figures, made = train_g(len(real))  # expect: PLM009
        if step % 1000 == 0:
            save_image(made, f"{step}.png")
