import torch

from torch.optim import AdamW

try:
    from apex.optimizers import FusedAdam
except ImportError:
    from torch.optim import Adam as FusedAdam


def train(model, loader):
    model = model.cuda()
    # trap: apex's is fused, and knows no such argument
    optimizer = FusedAdam(model.parameters(), lr=1e-3)
    other = AdamW(model.parameters(), lr=1e-3)  # expect: PLM057
    # trap: asked for
    third = AdamW(model.parameters(), lr=1e-3, fused=True)
    # trap: another optimizer
    fourth = torch.optim.SGD(model.parameters(), lr=1e-3)
    for x in loader:
        model(x.cuda()).sum().backward()
        for one in (optimizer, other, third, fourth):
            one.step()
