import torch
import torch.nn.functional as F

from halves import G, D, toggle_grad

optim_g = torch.optim.Adam(G.parameters())
optim_d = torch.optim.Adam(D.parameters())


def take_turns(loader):
    for real in loader:
        # trap: it is switched off below
        toggle_grad(D, True)
        fake = G(torch.randn(8, 64).cuda())
        loss = F.softplus(D(fake.detach())).mean() + F.softplus(-D(real.cuda())).mean()
        optim_d.zero_grad()
        loss.backward()
        optim_d.step()
        toggle_grad(D, False)
        # trap: never off, and what it made is cut off for the other's step
        toggle_grad(G, True)
        loss = F.softplus(-D(fake)).mean()
        optim_g.zero_grad()
        loss.backward()
        optim_g.step()
