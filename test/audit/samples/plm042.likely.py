import torch
import torch.nn as nn


class Noised(nn.Module):
    def __init__(self, schedule, net, width):
        super().__init__()
        self.schedule = schedule
        self.net = net
        self.class_weights = schedule.weights_of(width)
        self.proj = nn.Linear(width, width)
        self.register_buffer("prior", torch.ones(width))

    def forward(self, x, t, batch):
        alphas = self.schedule.alphas_cumprod.to(x.device)[t]  # likely: PLM042
        weights = self.class_weights.to(x.device)  # expect: PLM042
        # trap: a buffer is there already
        prior = self.prior.to(x.device)
        # trap: what the batch brings
        mask = batch.mask.to(x.device)
        # trap: a type is no place
        scale = self.class_weights.to(x.dtype)
        return self.net(x * alphas) * weights * prior * mask + scale.sum()
