import torch
from torch import nn
from bodies import Body, FlowConfig, ScaleParameter


class Pair(nn.Module):
    def __init__(self, wide, prompt):
        super().__init__()
        self.f = Body(2) if wide is None else Body(1)
        self.q = Body(3)
        steps = nn.Sequential()
        self.g = steps
        self.gain = nn.Parameter(torch.ones(1))
        self.scale = ScaleParameter(1)
        self.flow = FlowConfig()
        self.either = Body(3)
        self.prompt = prompt
        self.register_buffer("mean", torch.zeros(1))

    def settle(self):
        self.either = torch.zeros(1)

    def forward(self, x):
        return self.g(self.q(x)) * self.gain


def build(prompt):
    pair = Pair(None, prompt).cuda()
    pair.f.requires_grad = False  # expect: PLM077
    pair.q.requires_grad = False  # expect: PLM077
    pair.g.requires_grad = False  # expect: PLM077
    # trap: tensors have one
    pair.gain.requires_grad = False
    pair.scale.requires_grad = False
    pair.prompt.requires_grad = False
    pair.mean.requires_grad = False
    # trap: now and then it is one
    pair.either.requires_grad = False
    # trap: a setting of that name
    pair.flow.requires_grad = False
    return pair


class Holder:
    def __init__(self):
        self.q = Body(3)


def held():
    holder = Holder()
    # trap: no network, and whatever it holds
    holder.q.requires_grad = False
    return holder


class Lent(nn.Module):
    def __init__(self, inner, prompt, width):
        super().__init__()
        self.inner = inner
        self.prompt = prompt
        self.swapped = inner
        self.width = width

    def swap(self, tensor):
        self.swapped = tensor

    def forward(self, x):
        return self.swapped(self.inner(x)) + self.prompt


def lend(inner, prompt, device):
    lent = Lent(inner, prompt, 3)
    lent = lent.to(device)
    lent.inner.requires_grad = False  # expect: PLM077
    # trap: handed in, and never called
    lent.prompt.requires_grad = False
    # trap: now and then it is something else
    lent.swapped.requires_grad = False
    return lent
