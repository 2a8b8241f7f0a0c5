import torch
from torch import nn


class Student(nn.Module):
    def __init__(self, backbone, teacher):
        super().__init__()
        self.backbone, self.teacher = backbone, teacher
        for own, teacher_param in zip(self.backbone.parameters(), self.teacher.parameters()):
            teacher_param.data.copy_(own.data)
            # trap: a parameter, for all its name
            teacher_param.requires_grad = False


def thaw(model: nn.Module):
    model.requires_grad = True  # expect: PLM077
