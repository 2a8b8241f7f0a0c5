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
