"""Maps that were asked for beside the scores, and outputs that are seen to have a number for each place."""

import torch
import torch.nn.functional as F


def squeeze(model, loader, optimizer):
    for x, y in loader:
        feats, scores = model(x.cuda(), return_features=True)  # expect: PLM009
        loss = F.cross_entropy(scores, y.cuda())
        for one in feats[1:-1]:
            loss = loss + 1e-4 * one.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def dropped(model, loader, optimizer):
    for x, y in loader:
        # trap: deleted
        feats, scores = model(x.cuda(), return_features=True)
        loss = F.cross_entropy(scores, y.cuda())
        for one in feats[1:-1]:
            loss = loss + 1e-4 * one.pow(2).mean()
        del feats
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def single(model, loader, optimizer):
    for x, y in loader:
        # trap: a row for each example
        feats, scores = model(x.cuda(), return_features=True)
        loss = F.cross_entropy(scores, y.cuda()) + feats.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def align(net, loader, likeness_loss, bend_loss, optimizer):
    for moving, fixed in loader:
        field, moved = net(moving.cuda(), fixed.cuda())  # expect: PLM009
        _, _, depth, height, width = field.shape
        loss = likeness_loss(moved, fixed.cuda()) + bend_loss(field * torch.tensor([depth, height, width]).max())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def rate(net, loader, likeness_loss, optimizer):
    for x, y in loader:
        # trap: a number for each example
        _, rated = net(x.cuda(), y.cuda())
        batch, wide = rated.shape
        loss = likeness_loss(rated, y.cuda()) / batch / wide
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
