import torch
import torch.nn as nn
import torch.nn.functional as F


class Distill(nn.Module):
    def soft(self, ours, theirs):
        return F.kl_div(ours.log_softmax(1), theirs.softmax(1), reduction="batchmean")

    def soft_loss(self, ours, theirs):
        return self.soft(ours, theirs)

    def forward(self, images, labels, student, teacher):
        ours = student(images)
        theirs = teacher(images)  # expect: PLM020
        return F.cross_entropy(ours, labels) + self.soft_loss(ours, theirs.detach()), ours


class Quiet(nn.Module):
    def soft_loss(self, ours, theirs):
        return (ours - theirs).pow(2).mean()

    def forward(self, images, student, teacher):
        ours = student(images)
        # trap: nothing is recorded
        with torch.no_grad():
            theirs = teacher(images)
        return self.soft_loss(ours, theirs)


class Held(nn.Module):
    def soft_loss(self, ours, theirs):
        return (ours - theirs).pow(2).mean()

    def forward(self, images, student, teacher):
        ours = student(images)
        # trap: whoever hands it in may have frozen it
        theirs = teacher(images)
        return self.soft_loss(ours, theirs)


class Apart(nn.Module):
    def hard_loss(self, out, labels):
        return (out - labels).pow(2).mean()

    def forward(self, images, labels, student, teacher):
        # trap: both may learn, each by its own loss
        ours = student(images)
        theirs = teacher(images)
        return self.hard_loss(ours, labels), self.hard_loss(theirs, labels)
