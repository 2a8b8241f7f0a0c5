import functools
from functools import cache, lru_cache, partial

import torch
import torch.nn as nn
import torch.nn.functional as F


class Trainer:
    def __init__(self, model, opt):
        self.model, self.opt = model, opt
        self.handles = []
        self.calls = []

    def training_step(self, batch):
        self.handles.append(self.model.layer.register_forward_hook(self.keep))  # likely: PLM012
        loss = self.model(batch).mean()
        loss.backward()
        self.opt.step()
        self.calls.append(partial(self.show, loss))

    def train_epoch(self, loader):
        for name, p in self.model.named_parameters():
            if p.requires_grad:
                p.register_hook(functools.partial(self.clip, name))  # expect: PLM012
        for batch in loader:
            self.training_step(batch)

    def fit(self, loader):
        for epoch in range(10):
            self.train_epoch(loader)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])
        self.pos_cache = {}

    def forward(self, x):
        for layer in self.layers:
            layer.register_forward_hook(self.note)  # expect: PLM012
            x = layer(x)
        # trap: goes with the tensor
        x.register_hook(print)
        return x

    def encode(self, ids):
        if ids not in self.pos_cache:
            self.pos_cache[ids] = self.layers[0](ids)
        return self.pos_cache[ids]


def train(model, loader, opt):
    for x, y in loader:
        handle = model.fc.register_forward_hook(lambda m, i, o: None)
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        print(handle)


def watch(model, loader, opt):
    hooks = []
    for x, y in loader:
        for m in model.modules():
            hooks.append(m.register_forward_hook(log_norm))  # likely: PLM012
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        opt.step()


_flow_cache = {}


def cached_upflow(flow):
    if flow not in _flow_cache:
        _flow_cache[flow] = upflow(flow)
    return _flow_cache[flow]


@cache
def pairwise(feats, metric="l2"):
    return torch.cdist(feats, feats)


@functools.lru_cache(1024)
def warp(image, grid):
    return F.grid_sample(image, grid)


@lru_cache
def mask_of(size):
    # trap: by a number
    return torch.ones(size, size).tril()


memo = functools.lru_cache(maxsize=None)(lambda x: x.float().mean())


class Memo:
    def __init__(self):
        self.store = {}

    def get(self, z):
        key = z
        if key in self.store:
            return self.store[key]
        out = torch.linalg.inv(z)
        self.store[key] = out
        return out


def log_norm(m, i, o):
    print(o.norm())


def upflow(flow):
    return F.interpolate(flow, scale_factor=8)
