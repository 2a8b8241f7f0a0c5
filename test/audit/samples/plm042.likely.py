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


class Replayed(nn.Module):
    def __init__(self, net, luma=False):
        super().__init__()
        self.net = net
        self.luma = luma
        self.coef = torch.tensor([65.5, 128.6, 25.0]).reshape(1, 3, 1, 1)
        self.first = True

    def forward(self, x):
        if self.luma:
            if self.first:
                # trap: once
                self.coef = self.coef.to(x.device)
                self.first = False
            x = (x * self.coef).sum(dim=1)
        return self.net(x)


def update(policy, optimizer, buffer, device):
    for t, step in enumerate(buffer.steps):
        # trap: another one in each turn
        loss = policy(step.scene_encoding.to(device)).sum()
        loss.backward()
        optimizer.step()
