import argparse

import torch
from torch import nn


def lay(stones, reader, mason, optimizer):
    wall = mason(reader(stones.cuda()))  # expect: PLM066
    gap = wall.pow(2).mean()
    gap.backward()
    optimizer.step()
    optimizer.zero_grad()


def build(loader):
    parser = argparse.ArgumentParser()
    parser.add_argument("--train_reader", action="store_true")
    args = parser.parse_args()
    reader = nn.Sequential(nn.Linear(64, 64), nn.ReLU()).cuda()
    mason = nn.Linear(64, 64).cuda()
    weights = list(mason.parameters())
    if args.train_reader:
        weights += list(reader.parameters())
    optimizer = torch.optim.AdamW(weights, lr=1e-4, fused=True)
    for stones in loader:
        lay(stones, reader, mason, optimizer)


# Run without recording.
def carve(stones, scout, mason, optimizer):
    with torch.no_grad():
        found = scout(stones.cuda())
    gap = mason(found).pow(2).mean()
    gap.backward()
    optimizer.step()
    optimizer.zero_grad()


def quarry(loader):
    parser = argparse.ArgumentParser()
    parser.add_argument("--train_scout", action="store_true")
    args = parser.parse_args()
    scout = nn.Sequential(nn.Linear(64, 64), nn.ReLU()).cuda()
    mason = nn.Linear(64, 64).cuda()
    weights = list(mason.parameters())
    if args.train_scout:
        weights += list(scout.parameters())
    optimizer = torch.optim.AdamW(weights, lr=1e-4, fused=True)
    for stones in loader:
        carve(stones, scout, mason, optimizer)


# Handed another one, which is always trained.
def dress(stones, guide, mason, optimizer):
    gap = mason(guide(stones.cuda())).pow(2).mean()
    gap.backward()
    optimizer.step()
    optimizer.zero_grad()


def yard(loader):
    parser = argparse.ArgumentParser()
    parser.add_argument("--train_guide", action="store_true")
    args = parser.parse_args()
    guide = nn.Sequential(nn.Linear(64, 64), nn.ReLU()).cuda()
    other = nn.Sequential(nn.Linear(64, 64), nn.ReLU()).cuda()
    mason = nn.Linear(64, 64).cuda()
    weights = list(mason.parameters()) + list(other.parameters())
    if args.train_guide:
        weights += list(guide.parameters())
    optimizer = torch.optim.AdamW(weights, lr=1e-4, fused=True)
    for stones in loader:
        dress(stones, other, mason, optimizer)
