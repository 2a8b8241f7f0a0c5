import torch
import torch.nn.functional as F

from tools import jitter, normalize_batch


def train(net, judge, loader, optimizer, style, device):
    judge.requires_grad_(False)
    judge.eval()
    style = style.to(device)
    for images, noise in loader:
        images = images.to(device)
        a = judge(normalize_batch(style.clone()))  # expect: PLM080
        b = judge(F.interpolate(style, size=224).mean(1, keepdim=True))  # expect: PLM080
        # trap: another one each time, by its name
        c = judge(jitter(style))
        # trap: drawn anew
        d = judge(style.bernoulli())
        # trap: of what the batch brings
        mixed = torch.cat([style, style]).add(noise)
        e = judge(mixed)
        loss = sum(F.mse_loss(net(images), one) for one in (a, b, c, d, e))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
