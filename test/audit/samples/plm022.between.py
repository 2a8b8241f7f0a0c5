"""The clearing stands between the forward and the loss that is computed of it."""

import torch
import torch.nn.functional as F


def between(model, loader, optimizer):
    for x, y in loader:
        out = model(x)
        optimizer.zero_grad()  # expect: PLM022
        loss = F.cross_entropy(out, y)
        loss.backward()
        optimizer.step()


def judged(generator, critic, loader, optimizer):
    for x, z in loader:
        fake = generator(z)
        # trap: the network that learns runs after it
        optimizer.zero_grad()
        loss = F.softplus(critic(fake.detach())).mean()
        loss.backward()
        optimizer.step()


def taught(model, teacher, loader, optimizer):
    for x, y in loader:
        with torch.no_grad():
            wanted = teacher(x)
        # trap: what ran before it leaves no gradients
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), wanted)
        loss.backward()
        optimizer.step()


def unknown(model, loader, optimizer, head):
    for x, y in loader:
        features = model(x)
        # trap: most of the forward may be in there
        optimizer.zero_grad()
        loss = F.cross_entropy(head(features), y)
        loss.backward()
        optimizer.step()
