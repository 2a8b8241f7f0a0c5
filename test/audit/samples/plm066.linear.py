import torch

from models import Encoder, Head, build
from tools import set_optimizer


def train(loader, trunk, head, criterion, optimizer):
    trunk.eval()
    head.train()
    for images, labels in loader:
        images, labels = images.cuda(), labels.cuda()
        features = trunk.encoder(images)  # likely: PLM066
        loss = criterion(head(features), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def train_well(loader, trunk, head, criterion, optimizer):
    trunk.eval()
    for images, labels in loader:
        with torch.no_grad():
            # trap: nothing is recorded
            features = trunk.encoder(images.cuda())
        loss = criterion(head(features), labels.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main(options, loader):
    trunk, head, criterion = build(options)
    optimizer = set_optimizer(options, head)
    train(loader, trunk, head, criterion, optimizer)
    train_well(loader, trunk, head, criterion, optimizer)


def in_one(options, loader, criterion):
    model, classifier = Encoder().cuda(), Head().cuda()
    optimizer = build_optimizer(classifier, options)
    for images, labels in loader:
        logits = classifier(model(images.cuda()))  # likely: PLM066
        loss = criterion(logits, labels.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def noised(options, loader):
    net = build(options)
    optimizer = set_optimizer(options, net)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    for images in loader:
        # trap: no network at all
        times = torch.randint(0, 100, (8,), device=device)
        loss = net(images.to(device), times).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def both(options, loader, criterion):
    base, top = build(options)
    base.train()
    optimizer = set_optimizer(options, [base, top])
    for images, labels in loader:
        # trap: the optimizer has it too
        loss = criterion(top(base(images.cuda())), labels.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def wrapped(options, loader, criterion):
    inner, _ = build(options)
    inner.train()
    outer = Head(inner)
    optimizer = set_optimizer(options, outer)
    for images, labels in loader:
        # trap: the whole that is trained holds it
        loss = criterion(outer(inner(images.cuda())), labels.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def scaled(options, loader, criterion, scaler):
    body, top = build(options)
    body.eval()
    optimizer = set_optimizer(options, top)
    for images, labels in loader:
        loss = criterion(top(body(images.cuda())), labels.cuda())  # likely: PLM066
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
