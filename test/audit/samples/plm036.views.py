"""Parameters of a module that are fetched, moved or cast in every forward, behind a view, a name or a method that hands them back."""

import torch
import torch.nn.functional as F
from torch import nn


class Mixing(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv1d(c, c, kernel_size=1, bias=False)

    def forward(self, z, reverse=False):
        w = self.conv.weight.squeeze()
        if reverse:
            # trap: only who draws from the flow
            inverse = w.cpu().inverse()
            return F.conv1d(z, inverse[..., None].to(z.device))
        det = torch.logdet(w.to("cpu")).to(z.device)  # expect: PLM036
        return self.conv(z), z.size(0) * det


class Scaled(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.log_scale = nn.Parameter(torch.zeros(c))
        self.mixing = nn.Parameter(torch.eye(c))
        self.conv = nn.Conv1d(c, c, 1)

    def forward(self, x):
        det = torch.linalg.slogdet(self.mixing.cpu())[1].to(x.device)  # expect: PLM036
        det = det + torch.logdet(self.conv.weight[..., 0].cpu()).to(x.device)  # expect: PLM036
        scale = self.log_scale.view(1, -1, 1, 1).to(x.device)  # expect: PLM036
        # trap: what was computed from it is small, and another tensor
        total = self.log_scale.sum().to(x.dtype)
        return x * scale.exp(), det + total

    def report(self):
        # trap: asked for when somebody wants to see it
        return self.mixing.cpu()


def cropped(places, n):
    if places.shape[1] > n:
        return F.adaptive_avg_pool1d(places.transpose(1, 2), n).transpose(1, 2)
    return places


class Seen(nn.Module):
    def __init__(self, size, n, width):
        super().__init__()
        self.size = size
        self.embed = nn.Conv2d(3, width, 16, 16)
        self.places = None
        self.places = nn.Parameter(torch.zeros(1, n, width), requires_grad=False)
        self.first = nn.Parameter(torch.zeros(1, 1, width))
        self.register_buffer("wave", torch.zeros(1, n, width))

    def resized(self, x, places):
        if x.shape[-1] == self.size:
            return places
        places = F.interpolate(places.transpose(1, 2), scale_factor=x.shape[-1] / self.size)
        return places.transpose(1, 2)

    def fitted(self, x):
        if x.shape[-1] == self.size:
            return self.places
        return F.interpolate(self.places, size=x.shape[-1] // 16)

    def lengthened(self, x):
        return F.interpolate(self.places, size=x.shape[-1] // 16)

    def scaled(self, x, places):
        return places * x.shape[-1]

    def forward(self, x):
        places = self.resized(x, self.places)
        x = self.embed(x).flatten(2).transpose(1, 2)
        x += places.to(x.device, x.dtype)  # expect: PLM036
        x = x + self.places[:, : x.shape[1]].to(x.dtype)  # expect: PLM036
        x = x + cropped(self.places, x.shape[1]).to(x.dtype)  # expect: PLM036
        x = x + self.fitted(x).to(x.dtype)  # expect: PLM036
        # trap: computed in every forward
        x = x + self.lengthened(x).to(x.dtype)
        first = self.first.expand(x.shape[0], -1, -1).to(x.dtype)  # expect: PLM036
        # trap: a buffer, which autocast knows nothing of
        x = x + self.wave[:, : x.shape[1]].to(x.dtype)
        # trap: what a method computes of it is another tensor each time
        x = x + self.scaled(x, self.places).to(x.dtype)
        return torch.cat((first, x), dim=1)


def train(loader, optimizer):
    model, flow, scaled = Seen(224, 196, 64).cuda(), Mixing(64).cuda(), Scaled(64).cuda()
    for x in loader:
        out = model(x.cuda())
        loss = out.mean() + flow(out)[1] + scaled(out)[1]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
