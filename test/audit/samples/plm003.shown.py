"""Pictures that are shown together, a few at a time, or put into a film."""

import imageio
import torch
from torchvision.utils import make_grid


@torch.no_grad()
def film(runner, loader, path):
    video = []
    for data in loader:
        output = runner.test_single(data)
        # trap: arrays of a film
        video.append(output)
    imageio.mimsave(path, video, fps=15)


@torch.no_grad()
def grid(model, loader):
    all_samples = []
    for data in loader:
        samples = torch.clamp(model.decode_first_stage(data), 0.0, 1.0)
        # trap: for one picture
        all_samples.append(samples)
    shown = torch.stack(all_samples, 0)
    return make_grid(shown, nrow=4)


@torch.no_grad()
def evaluate(net, loader):
    net.cuda()
    kept = []
    for data in loader:
        logits = net(data.cuda())
        kept.append(logits)  # expect: PLM003
    return torch.cat(kept)
