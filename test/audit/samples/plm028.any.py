import torch
import torch.nn.functional as F


def fit(net, batches, optimizer):
    device = torch.device("cuda")
    for x, depth, known in batches:
        x, depth, known = x.to(device), depth.to(device), known.bool().to(device)
        guess = net(x)
        loss = guess.abs().mean()
        if known.any():
            loss = loss + F.l1_loss(torch.masked_select(guess, known), depth)  # expect: PLM028
        if known.sum() > 0:
            loss = loss + guess[known].mean()  # expect: PLM028
        # trap: what is spoilt is rare
        if torch.isnan(guess).any():
            loss = loss + torch.masked_select(guess, known).mean()
        # another test, that nobody here can read
        if depth.max() > 80:
            loss = loss + torch.masked_select(guess, known).mean()  # likely: PLM028
        # trap: hardly ever are there none
        if known.any():
            loss = loss * 1
        else:
            loss = loss + torch.masked_select(guess, known).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
