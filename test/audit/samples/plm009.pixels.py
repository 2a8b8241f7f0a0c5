"""Training for segmentation: a class for each pixel."""

import torch
import torch.nn.functional as F


def mean_iou(probs, masks):
    return probs.argmax(1).eq(masks).float().mean()


def train(net, loader, optimizer, criterion):
    seen = 0.0
    for images, masks in loader:
        scores = net(images.cuda())
        loss = criterion(scores, masks.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        probs = torch.softmax(scores.detach(), dim=1)  # expect: PLM009
        seen += mean_iou(probs, masks.cuda())
    return seen, scores


def watched(net, loader, optimizer, criterion, iou_metric):
    for images, masks in loader:
        scores = net(images.cuda())
        loss = criterion(scores, masks.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        probs = scores.detach().sigmoid()  # expect: PLM009
        iou_metric.update(probs, masks.cuda())
    return iou_metric, scores


def drawn(net, loader, optimizer, criterion, draw):
    for images, masks in loader:
        scores = net(images.cuda())
        loss = criterion(scores, masks.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        # trap: those of the last batch are drawn
        probs = torch.softmax(scores.detach(), dim=1)
        print(mean_iou(probs, masks.cuda()))
    draw(probs)


def gone(net, loader, optimizer, criterion):
    for images, masks in loader:
        scores = net(images.cuda())
        loss = criterion(scores, masks.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        # trap: under no name
        print(mean_iou(torch.softmax(scores.detach(), dim=1), masks.cuda()))
    return scores
