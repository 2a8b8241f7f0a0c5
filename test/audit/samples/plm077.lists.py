import torch
from torch import nn
from torchvision.models import resnet50, vgg16


def cut(depth, number):
    net = vgg16(weights=None)
    layers = list(net.features)[:20]
    for layer in layers[:depth]:
        layer.requires_grad = False  # expect: PLM077
    for i in range(depth):
        layers[i].requires_grad = False  # expect: PLM077
    first = list(net.children())
    for child in first[: depth + 1]:
        child.requires_grad = False  # expect: PLM077
    chosen = (net.features, net.classifier)
    for part in chosen:
        part.requires_grad = False  # expect: PLM077
    stem = nn.Sequential(*layers)
    for number, layer in enumerate(stem):
        layer.requires_grad = False  # expect: PLM077
    return stem


def kept(depth, given, pick):
    net = resnet50(weights=None)
    # trap: parameters, of the parts or of the whole
    weights = list(net.parameters())[:depth]
    for weight in weights:
        weight.requires_grad = False
    inner = [p for part in net.children() for p in part.parameters()]
    for one in inner[:depth]:
        one.requires_grad = False
    inner[0].requires_grad = False
    # trap: whatever somebody makes of the parts
    picked = pick(net.children())
    for one in picked:
        one.requires_grad = False
    # trap: tensors in a list
    drawn = [torch.zeros(1), torch.ones(1)]
    for one in drawn:
        one.requires_grad = False
    # trap: handed in, or now this and now that
    for one in given[:depth]:
        one.requires_grad = False
    either = list(net.children()) if depth else weights
    for one in either:
        one.requires_grad = False
