import torch
import torch.nn as nn
import torch.nn.functional as F

from nets import Small, TeacherNet


class Distillation(nn.Module):
    def __init__(self, teacher, base, weight=0.5):
        super().__init__()
        self.teacher = teacher
        self.base = base
        self.weight = weight

    def forward(self, inputs, outputs, labels):
        theirs = self.teacher(inputs)  # expect: PLM020
        soft = F.kl_div(outputs.log_softmax(1), theirs.softmax(1), reduction="batchmean")
        return self.base(outputs, labels) + self.weight * soft


class Held(nn.Module):
    def __init__(self, teacher):
        super().__init__()
        self.teacher = teacher

    def forward(self, inputs, outputs):
        # trap: frozen by who hands it in
        theirs = self.teacher(inputs)
        return F.mse_loss(outputs, theirs)


class Perceptual(nn.Module):
    def __init__(self, teacher):
        super().__init__()
        self.teacher = teacher

    def forward(self, made, real):
        # trap: gradients come back through it to what made the picture
        ours = self.teacher(made)
        with torch.no_grad():
            theirs = self.teacher(real)
        return F.mse_loss(ours, theirs)


def train_one_epoch(model, losses, loader, optimizer):
    for x, y in loader:
        x, y = x.cuda(), y.cuda()
        out = model(x)
        loss = losses(x, out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main(loader, together):
    teacher = TeacherNet().cuda()
    teacher.eval()
    frozen_teacher = TeacherNet().cuda()
    frozen_teacher.eval()
    for parameter in frozen_teacher.parameters():
        parameter.requires_grad = False
    model = Small().cuda()
    losses = together(
        Distillation(teacher, nn.CrossEntropyLoss()), Held(frozen_teacher), Perceptual(teacher)
    )
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    train_one_epoch(model, losses, loader, optimizer)
