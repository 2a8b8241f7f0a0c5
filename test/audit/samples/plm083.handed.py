import time

import torch


def visit(swarm, elder, hive, optimizer, spent):
    swarm = swarm.cuda()
    begun = time.time()
    with torch.no_grad():
        wanted = elder(swarm)
    spent += time.time() - begun  # expect: PLM083
    gap = (hive(swarm) - wanted).pow(2).mean()
    gap.backward()
    optimizer.step()
    optimizer.zero_grad()
    return spent


def season(elder, hive, loader, optimizer):
    elder.eval()
    hive.train()
    spent = 0.0
    for swarm in loader:
        spent = visit(swarm, elder, hive, optimizer, spent)
    return spent


# One of the calls hands it something else, which may be done at once.
def ask(swarm, sage, hive, optimizer, spent):
    swarm = swarm.cuda()
    begun = time.time()
    wanted = sage(swarm)
    spent += time.time() - begun
    gap = (hive(swarm) - wanted).pow(2).mean()
    gap.backward()
    optimizer.step()
    optimizer.zero_grad()
    return spent


def spring(sage, hive, loader, optimizer):
    sage.eval()
    hive.train()
    spent = 0.0
    for swarm in loader:
        spent = ask(swarm, sage, hive, optimizer, spent)
    for swarm in loader:
        spent = ask(swarm, len, hive, optimizer, spent)
    return spent
