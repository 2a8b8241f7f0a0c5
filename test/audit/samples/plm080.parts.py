"""A part of a frozen network, and a network that is frozen where it is made."""

import torch
from elsewhere import Vgg16


def train(model, reference, loader, optimizer, style, device):
    reference = reference.to(device).eval().requires_grad_(False)
    perceptual_loss_net = Vgg16(requires_grad=False).to(device)
    anchors = torch.randn(64, 8, device=device)
    for x in loader:
        y = model(x.to(device))
        drift = (model.decoder(anchors) - reference.decoder(anchors)).mean()  # expect: PLM080
        target = perceptual_loss_net(style)  # expect: PLM080
        feature = perceptual_loss_net(y)  # trap: of what the step made
        reference.to(device)  # trap: a method that moves
        loss = drift + (feature - target).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
