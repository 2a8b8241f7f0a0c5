"""A network made of a backbone and a head, of which an optimizer is given one."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn, optim

import nets


class Probe(nn.Module):
    def __init__(self, backbone, head):
        super().__init__()
        self.backbone = backbone
        self.head = head

    def forward(self, x):
        return self.head(self.backbone(x))


class Still(nn.Module):
    def __init__(self, trunk, top):
        super().__init__()
        self.trunk = trunk
        self.top = top

    def forward(self, x):
        with torch.no_grad():
            features = self.trunk(x)
        return self.top(features)


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--weights", default="freeze", choices=("finetune", "freeze"))
    parser.add_argument("--fixed", action="store_true")
    return parser.parse_args()


def by_option(args, loader, gpu):
    backbone, width = nets.__dict__["resnet50"](zero_init_residual=True)
    head = nn.Linear(width, 1000)
    model = Probe(backbone, head)
    model.cuda(gpu)
    model = nn.parallel.DistributedDataParallel(model, device_ids=[gpu])
    groups = [dict(params=head.parameters(), lr=0.3)]  # likely: PLM066
    if args.weights == "finetune":
        groups.append(dict(params=backbone.parameters(), lr=0.01))
    optimizer = optim.SGD(groups, 0, momentum=0.9)
    for x, y in loader:
        loss = F.cross_entropy(model(x.cuda(gpu)), y.cuda(gpu))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def in_turn(loader):
    encoder = nets.make_encoder(64).cuda()
    top = nn.Linear(64, 10).cuda()
    net = nn.Sequential(encoder, top)
    opt = optim.Adam(top.parameters(), lr=1e-3)  # likely: PLM066
    for x, y in loader:
        opt.zero_grad()
        F.cross_entropy(net(x.cuda()), y.cuda()).backward()
        opt.step()


def by_name(loader):
    base_model = nets.load("vit")
    head = nn.Linear(64, 10)
    whole = Probe(backbone=base_model, head=head).cuda()
    opt = optim.Adam([{"params": head.parameters(), "lr": 1e-3}])  # likely: PLM066
    for x, y in loader:
        opt.zero_grad()
        F.cross_entropy(whole(x.cuda()), y.cuda()).backward()
        opt.step()


def unless_fixed(args, loader):
    bert = nets.load("bert").cuda()
    head = nn.Linear(64, 10).cuda()
    joined = Probe(bert, head)
    # trap: it learns unless somebody says otherwise
    groups = [{"params": head.parameters(), "lr": 1e-3}]
    if not args.fixed:
        groups.append({"params": bert.parameters(), "lr": 1e-5})
    opt = optim.Adam(groups)
    for x, y in loader:
        opt.zero_grad()
        F.cross_entropy(joined(x.cuda()), y.cuda()).backward()
        opt.step()


def without(loader):
    trunk = nets.load("resnet").cuda()
    crown = nn.Linear(64, 10).cuda()
    still = Still(trunk, crown)
    # trap: nothing is recorded below the crown
    opt = optim.Adam(crown.parameters(), lr=1e-3)
    for x, y in loader:
        opt.zero_grad()
        F.cross_entropy(still(x.cuda()), y.cuda()).backward()
        opt.step()


def both(loader):
    body = nets.load("resnet").cuda()
    crown = nn.Linear(64, 10).cuda()
    pair = Probe(body, crown)
    # trap: each has an optimizer of its own
    opt = optim.Adam(crown.parameters(), lr=1e-3)
    slow = optim.SGD(body.parameters(), lr=1e-5)
    for x, y in loader:
        opt.zero_grad()
        slow.zero_grad()
        F.cross_entropy(pair(x.cuda()), y.cuda()).backward()
        opt.step()
        slow.step()
