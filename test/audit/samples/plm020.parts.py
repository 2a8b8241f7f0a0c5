import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class Wrapper(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        # trap: in eval mode where it is asked to infer, trained with the whole
        return self.model(x)

    @torch.no_grad()
    def infer(self, loader):
        self.model.eval()
        return [self.model(x) for x in loader]


def probe(loader, model, criterion, optimizer):
    model.eval()
    for x, y in loader:
        # trap: the only network of the step is what it trains, its norms held still
        loss = criterion(model(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def distill(student, teacher, loader, optimizer):
    teacher.eval()
    student.train()
    for x, _ in loader:
        x = x.cuda()
        wanted = teacher(x).detach()  # expect: PLM020
        loss = F.mse_loss(student(x), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Old:
    def __init__(self, net, lr):
        self.net = net.cuda()
        self.old_net = copy.deepcopy(self.net)
        self.optim = torch.optim.Adam(self.net.parameters(), lr=lr)

    def update(self, batches):
        self.old_net.load_state_dict(self.net.state_dict())
        self.old_net.req_grads(False)
        for states in batches:
            # trap: frozen by a method of its own
            before = self.old_net(states)
            loss = (self.net(states) - before).pow(2).mean()
            loss.backward()
            self.optim.step()
            self.optim.zero_grad()


def one_epoch(student, teacher, loader, optimizer):
    student.train()
    teacher.eval()
    for x in loader:
        # trap: frozen by who hands it in
        wanted = teacher(x)
        loss = (student(x) - wanted).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def distill(student, make_teacher, loader, optimizer):
    teacher = make_teacher()
    tools.freeze_all(teacher)
    for _ in range(8):
        one_epoch(student, teacher, loader, optimizer)
