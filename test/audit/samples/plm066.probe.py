"""A function that trains what it is given, with the optimizer that its caller made."""

import torch
import torch.nn.functional as F
from torch import nn
from torchvision.models import resnet18, resnet50
from transformers import AutoTokenizer


def probe(backbone, head, optimizer, loader, device):
    head.train()
    for x, y in loader:
        features = backbone(x.to(device))  # expect: PLM066
        loss = F.cross_entropy(head(features), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main(loader, small, device):
    if small:
        net = resnet18(weights="DEFAULT")
    else:
        net = resnet50(weights="DEFAULT")
    net.to(device)
    net.eval()
    classifier = nn.Linear(1000, 10).to(device)
    optimizer = torch.optim.SGD(classifier.parameters(), lr=0.1)
    for _ in range(10):
        probe(net, classifier, optimizer, loader, device)


def probe_frozen(body, head, optimizer, loader, device):
    for x, y in loader:
        # trap: who calls this froze it
        loss = F.cross_entropy(head(body(x.to(device))), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main_frozen(loader, device):
    stem = resnet18(weights="DEFAULT").to(device)
    for weight in stem.parameters():
        weight.requires_grad = False
    classifier = nn.Linear(1000, 10).to(device)
    optimizer = torch.optim.SGD(classifier.parameters(), lr=0.1)
    probe_frozen(stem, classifier, optimizer, loader, device)


def both(trunk, head, optimizer, loader, device):
    for x, y in loader:
        # trap: both learn
        loss = F.cross_entropy(head(trunk(x.to(device))), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main_both(loader, device):
    trunk = resnet18(weights="DEFAULT").to(device)
    top = nn.Linear(1000, 10).to(device)
    optimizer = torch.optim.SGD([*trunk.parameters(), *top.parameters()], lr=0.1)
    both(trunk, top, optimizer, loader, device)


def joined(part, whole, optimizer, loader, device):
    for x, y in loader:
        # trap: a part of what learns
        loss = F.cross_entropy(whole(x.to(device)), y.to(device)) + part(x.to(device)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main_joined(loader, device):
    part = resnet18(weights="DEFAULT").to(device)
    whole = nn.Sequential(part, nn.Linear(1000, 10)).to(device)
    optimizer = torch.optim.SGD(whole.parameters(), lr=0.1)
    joined(part, whole, optimizer, loader, device)


def without(still, head, optimizer, loader, device):
    for x, y in loader:
        # trap: nothing is recorded
        with torch.no_grad():
            features = still(x.to(device))
        loss = F.cross_entropy(head(features), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main_without(loader, device):
    still = resnet18(weights="DEFAULT").to(device).eval()
    classifier = nn.Linear(1000, 10).to(device)
    optimizer = torch.optim.SGD(classifier.parameters(), lr=0.1)
    without(still, classifier, optimizer, loader, device)


def tuned(words, top, optimizer, loader, device):
    for texts, y in loader:
        # trap: what makes numbers of words has nothing to learn
        ids = words(texts, return_tensors="pt").input_ids.to(device)
        loss = F.cross_entropy(top(ids.float()), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main_tuned(loader, device):
    words = AutoTokenizer.from_pretrained("gpt2")
    top = nn.Linear(128, 10).to(device)
    optimizer = torch.optim.SGD(top.parameters(), lr=0.1)
    tuned(words, top, optimizer, loader, device)
