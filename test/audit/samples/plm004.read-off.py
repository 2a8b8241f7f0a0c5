import torch
import torch.nn.functional as F


def record(self, inputs, output):
    self.out = output  # likely: PLM004


def remember(self, inputs, output):
    self.seen = output  # likely: PLM004


def cut(self, inputs, output):
    # trap: without its graph
    self.kept = output.detach()


student = torch.nn.Sequential()
student.layer = torch.nn.Linear(8, 8)
teacher = torch.nn.Sequential()
teacher.layer = torch.nn.Linear(8, 8)


def train(loader, optimizer):
    student.layer.register_forward_hook(record)
    teacher.layer.register_forward_hook(record)
    student.layer.register_forward_hook(remember)
    student.layer.register_forward_hook(cut)
    for x, y in loader:
        with torch.no_grad():
            teacher(x)
        # trap: reads what was kept, with its graph
        loss = F.cross_entropy(student(x), y) + F.mse_loss(student.layer.out, teacher.layer.out)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        # trap: looked at without its graph
        print(student.layer.seen.detach().norm())
