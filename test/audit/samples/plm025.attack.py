# An attack differentiates to change its input; no weights are stepped, so an evaluation with it is no training.
import torch
import torch.nn.functional as F


def attack_pgd(model, x, y, epsilon, alpha, iterations):
    delta = torch.zeros_like(x, requires_grad=True)
    for _ in range(iterations):
        loss = F.cross_entropy(model(x + delta), y)
        loss.backward()
        grad = delta.grad.detach()
        delta.data = torch.clamp(delta + alpha * torch.sign(grad), -epsilon, epsilon)
        delta.grad.zero_()
    return delta.detach()


def evaluate(model, loader):
    total = 0.0
    for x, y in loader:
        x, y = x.cuda(), y.cuda()
        delta = attack_pgd(model, x, y, 0.3, 0.01, 40)
        loss = F.cross_entropy(model(x + delta), y)
        total += loss.item() * y.size(0)
    return total


def train(model, loader, optimizer):
    total = 0.0
    for x, y in loader:
        x, y = x.cuda(), y.cuda()
        delta = attack_pgd(model, x, y, 0.3, 0.01, 40)
        loss = F.cross_entropy(model(x + delta), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()  # expect: PLM025
    return total


def normals(field, points, codes, device):
    found = []
    for part in points.split(1000):
        part = part.unsqueeze(0).to(device)
        part.requires_grad_()
        field(part, codes).sum().backward()
        normal = -part.grad
        normal = normal / torch.norm(normal, dim=-1, keepdim=True)
        # trap: the gradient of where it was asked, by nobody who learns
        found.append(normal.squeeze(0).cpu().numpy())
    return found
