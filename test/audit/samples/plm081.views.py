"""What is done with a view of a copy, or under the name it gets next, is done with the copy."""

import torch
import torchvision
from torchvision import transforms


def shown(loader, net: torch.nn.Module, head: torch.nn.Module, opt):
    denorm = transforms.Normalize((-2.12,), (4.37,), inplace=True)
    for x in loader:
        opt.zero_grad()
        feat = net(x.cuda())
        # trap: what it is clamped by goes by the same name
        img = feat.clone().squeeze()
        img = img.clamp_(0, 1)
        # trap: of a view of it
        other = feat.clone()
        other = other.unsqueeze(0).clamp_(0, 1)
        # trap: whoever is handed a view of it may write into it
        third = feat.clone().squeeze()
        third = denorm(third)
        # trap: the output itself is written into afterwards
        before = feat.clone()
        kept = feat.clone().view(-1)  # trap: the same
        feat.view(-1).clamp_(0, 1)
        torchvision.utils.save_image([img, other, third], "a.png")
        loss = head(feat).sum() + (before - 1).sum() + (kept - 1).sum()
        loss.backward()
        opt.step()


def read(loader, net: torch.nn.Module, head: torch.nn.Module, opt):
    for x in loader:
        opt.zero_grad()
        feat = net(x.cuda())
        flat = feat.clone().squeeze()  # expect: PLM081
        loss = head(feat).sum() + (flat - 1).square().mean()
        loss.backward()
        opt.step()
