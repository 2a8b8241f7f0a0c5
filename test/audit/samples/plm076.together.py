"""One of several loaders that were handed out together."""

import torch
from elsewhere import every_loader, every_table


def fit(net, optimizer, options):
    loaders = every_loader(options)
    scene_loader = loaders[0]
    style_loader = loaders["style"]
    other_loader, more_loader = loaders
    # trap: begun once
    others = iter(other_loader)
    for scene in scene_loader:
        style = next(iter(style_loader))  # expect: PLM076
        more = next(iter(more_loader))  # expect: PLM076
        loss = net(scene, style, next(others), more).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def look_up(net, optimizer, options, batches):
    tables = every_table(options)
    names = tables[0]
    for scene in batches:
        # trap: the first of what is no loader
        style = next(iter(names))
        loss = net(scene, style).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
