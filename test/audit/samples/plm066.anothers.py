import torch

from nets import Critic, Painter

G = Painter().cuda()
D = Critic().cuda()
opt_g = torch.optim.Adam(G.parameters(), lr=2e-4)
opt_d = torch.optim.Adam(D.parameters(), lr=2e-4)


def attached(real, z):
    fake = G(z)  # expect: PLM066
    loss = D(fake).mean() - D(real).mean()
    opt_d.zero_grad()
    loss.backward()
    opt_d.step()


def detached(real, z):
    # trap: nothing of the loss goes back through it
    fake = G(z).detach()
    loss = D(fake).mean() - D(real).mean()
    opt_d.zero_grad()
    loss.backward()
    opt_d.step()


def frozen(z):
    D.requires_grad_(False)
    # trap: gradients must pass, and its own are off
    loss = -D(G(z)).mean()
    opt_g.zero_grad()
    loss.backward()
    opt_g.step()
    D.requires_grad_(True)


def both(real, z):
    # trap: both learn from it
    loss = D(G(z)).mean() - D(real).mean()
    opt_g.zero_grad()
    opt_d.zero_grad()
    loss.backward()
    opt_g.step()
    opt_d.step()


def run(loader):
    for real, z in loader:
        attached(real.cuda(), z.cuda())
        detached(real.cuda(), z.cuda())
        frozen(z.cuda())
        both(real.cuda(), z.cuda())
