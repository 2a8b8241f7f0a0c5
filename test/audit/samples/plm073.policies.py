"""Distributions of a program's own that make one of torch's when they are drawn from."""

import torch
from torch.distributions import Normal


class DiagonalGaussian:
    def __init__(self, moments):
        self.mean, logvar = moments.chunk(2, dim=1)
        self.std = (0.5 * logvar).exp()

    def sample(self):
        return Normal(self.mean, self.std).sample()  # expect: PLM073

    def mode(self):
        return self.mean


class Laplacian:
    def __init__(self, mean, scale):
        self.mean, self.scale = mean, scale

    def sample(self):
        return torch.distributions.Laplace(self.mean, self.scale).sample()  # likely: PLM073

    def log_prob(self, x):
        return -(x - self.mean).abs() / self.scale - (2 * self.scale).log()


class GaussianPolicy:
    def __init__(self, net):
        self.net = net

    def sample(self, state):
        mean, logstd = self.net(state)
        normal = Normal(mean, logstd.exp())  # likely: PLM073
        drawn = normal.rsample()
        return drawn.tanh(), normal.log_prob(drawn)

    def sample_z(self, state):
        mean, logstd = self.net(state)
        return torch.distributions.Normal(mean, logstd.exp()).rsample()  # likely: PLM073


class Unvalidated:
    def __init__(self, mean, std):
        self.mean, self.std = mean, std

    def sample(self):
        # trap: told not to look
        return Normal(self.mean, self.std, validate_args=False).rsample()

    def mode(self):
        return self.mean


class Sampler:
    def __init__(self, mean, std):
        self.mean, self.std = mean, std

    def sample(self):
        # trap: without a gradient, and nothing a loss is made of
        return Normal(self.mean, self.std).sample()

    @torch.no_grad()
    def rsample(self):
        # trap: nothing is recorded
        return Normal(self.mean, self.std).rsample()

    def sample_grid(self, n):
        # trap: to look at
        return Normal(self.mean[:n], self.std[:n]).rsample()


class Prior:
    def __init__(self, size, device):
        self.size, self.device = size, device

    def mode(self):
        return torch.zeros(self.size, device=self.device)

    def plot(self):
        # trap: to look at
        return Normal(self.mode(), 1.0).rsample()


def train(net, encoder, loader, optimizer):
    net.cuda()
    for x in loader:
        posterior = DiagonalGaussian(encoder(x.cuda()))
        loss = net(posterior.sample()).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
