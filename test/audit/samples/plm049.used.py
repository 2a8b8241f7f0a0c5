import torch
import torch.nn as nn
import torch.nn.functional as F

device = torch.device("cuda")


def whole(path, batch):
    # No fix: what is loaded runs as it comes.
    net = torch.load(path)  # expect: PLM049, by hand
    net.eval()
    return net(batch.to(device))


def whole_sent(path, batch):
    net = torch.load(path)  # expect: PLM049
    net.eval()
    net.to(device)
    return net(batch.to(device))


def whole_when(path, batch, args):
    with open(path, "rb") as f:
        net = torch.load(f)  # expect: PLM049
    net.eval()
    if args.cuda:
        net.cuda()
    return net(batch.to(device))


class Cache:
    def __init__(self, path):
        self.data = torch.load(path)  # expect: PLM049, by hand

    def batches(self, size):
        order = torch.randperm(len(self.data["images"]), device=device)
        for chosen in order.split(size):
            yield self.data["images"][chosen], self.data["labels"][chosen]


def teacher(path, params):
    kept = torch.load(path)["params"]  # expect: PLM049, by hand
    for name, value in kept.items():
        params["teacher." + name] = value.detach()
    return params


def filter_bank(path, model):
    # A buffer of a network that is on the device already.
    saved = torch.load(path)  # expect: PLM049, by hand
    model.spec.fb = saved["spec.fb"]
    model.load_state_dict(saved)


def by_option(path, args):
    if not args.cuda:
        # trap: where there is no device
        model = torch.load(path, map_location=lambda storage, loc: storage)
    else:
        model = torch.load(path)  # expect: PLM049, by hand
    model.load_state_dict(model.state_dict())
    return model


def handed_out(path):
    return torch.load(path)  # expect: PLM049, by hand


class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer

    def resume(self, path):
        self.saved = torch.load(path)  # expect: PLM049
        self.epoch = self.saved["epoch"] + 1
        self.model.load_state_dict(self.saved["model"])
        self.optimizer.load_state_dict(self.saved["optimizer"])

    def read(self, path):
        # What a helper of this file copies from.
        self.fill(torch.load(path))  # expect: PLM049

    def fill(self, state):
        own = self.model.state_dict()
        for name, value in state.items():
            if name in own and own[name].shape == value.shape:
                own[name].copy_(value)


def interpolated(path, model):
    state = torch.load(path)["model"]  # expect: PLM049
    for key in list(state.keys()):
        if key.startswith("module."):
            state[key.replace("module.", "", 1)] = state.pop(key)
    old = state["pos_embed"]
    grid = old[:, 1:].reshape(1, 14, 14, -1).permute(0, 3, 1, 2)
    grid = F.interpolate(grid, size=(24, 24), mode="bicubic").flatten(2).transpose(1, 2)
    state["pos_embed"] = torch.cat([old[:, :1], grid], dim=1)
    kept = {name: value for name, value in state.items() if not name.startswith("head.")}
    print(model.load_state_dict(kept, strict=False))


def weights(path):
    state = torch.load(path)  # expect: PLM049
    return {name[7:]: value for name, value in state.items()}


def start(path, model):
    # trap: said where to
    other = torch.load(path, map_location=device)
    model.load_state_dict(weights(path))
    return nn.DataParallel(model).to(device), other


class Snapshots:
    def resume(self, path):
        with open(path, "rb") as file:
            payload = torch.load(file)  # expect: PLM049, by hand
        for name, part in payload.items():
            self.__dict__[name] = part
