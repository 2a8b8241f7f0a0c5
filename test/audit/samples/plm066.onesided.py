import torch
import torch.nn.functional as F

from halves import G, D, both, toggle_grad

optim_g = torch.optim.Adam(G.parameters())
optim_d = torch.optim.Adam(D.parameters())


def take_turns(loader):
    for real in loader:
        toggle_grad(D, True)  # expect: PLM066
        toggle_grad(G, False)
        loss = F.softplus(both(real.cuda(), train_G=False)).mean()
        optim_d.zero_grad()
        loss.backward()
        optim_d.step()
        toggle_grad(G, True)
        loss = F.softplus(-both(train_G=True)).mean()
        optim_g.zero_grad()
        loss.backward()
        optim_g.step()
