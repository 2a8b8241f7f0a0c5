import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(4)).to(device)  # expect: PLM077
        # trap: moved first
        self.shift = nn.Parameter(torch.ones(4).to(device))
        self.late = None
        # trap: layers belong here
        self.body = nn.Linear(4, 4)
        self.body.requires_grad = False  # expect: PLM077
        # trap: a parameter has it
        self.body.weight.requires_grad = False
        # trap: a module's way
        self.body.requires_grad_(False)

    def forward(self, x):
        y = nn.Linear(4, 4)(x)  # expect: PLM077
        if self.late is None:
            # trap: made once, and kept
            self.late = nn.Linear(4, 4)
        # trap: has no parameters
        z = nn.ReLU()(x)
        return y + self.late(z) * self.scale + self.shift


def fit(model, loader, optimizer):
    model.cuda()
    for x, y in loader:
        side = nn.Linear(4, 4).cuda()  # expect: PLM077
        loss = (model(x.cuda()) - y.cuda()).pow(2).mean() + side(x.cuda()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def probes(tasks, model):
    for task in tasks:
        # trap: an optimizer of its own trains it
        probe = nn.Linear(4, 4).cuda()
        optimizer = torch.optim.SGD(probe.parameters(), lr=0.1)
        for x, y in task:
            (probe(model(x.cuda())) - y.cuda()).pow(2).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
