"""A similarity that is scaled once for each side."""

import torch
import torch.nn.functional as F
from torch import nn


class Contrast(nn.Module):
    def __init__(self, kept):
        super().__init__()
        self.kept = kept
        self.logit_scale = nn.Parameter(torch.ones([]))
        self.weights = nn.Parameter(torch.ones(1024))

    def forward(self, image, text, labels):
        similarity = image @ text.T
        by_image = self.logit_scale.exp() * similarity  # expect: PLM048
        by_text = self.logit_scale.exp() * similarity.T
        return F.cross_entropy(by_image, labels) + F.cross_entropy(by_text, labels)

    def named(self, image, text, labels):
        factor = self.logit_scale.exp()
        scores = torch.matmul(image, text.t())
        first = F.cross_entropy(scores.mul(factor), labels)  # expect: PLM048
        return first + F.cross_entropy(scores.t().mul(factor), labels)

    def divided(self, image, text, labels, temperature):
        scores = torch.einsum("id,jd->ij", image, text)
        first = F.cross_entropy(scores / temperature, labels)  # expect: PLM048
        return first + F.cross_entropy(scores.transpose(0, 1) / temperature, labels)

    def once(self, image, text, labels, logit_scale):
        similarity = image @ text.T
        logits = logit_scale * similarity  # expect: PLM048
        return F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)


class Other(Contrast):
    def forward(self, image, text, labels, logit_scale):
        # trap: the features are scaled, and the second is a view
        logits = logit_scale * image @ text.T
        loss = F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)
        # trap: a weight for each column, and for each row
        scores = image @ text.T
        weighed = F.cross_entropy(scores * self.weights, labels)
        weighed = weighed + F.cross_entropy(scores.T * self.weights, labels)
        # trap: the unscaled one is wanted as well
        plain = image @ text.T
        sharp = F.cross_entropy(plain * self.logit_scale, labels)
        sharp = sharp + F.cross_entropy(plain.T * self.logit_scale, labels) + (plain - self.kept).mean()
        # trap: either the one or the other
        either = image @ text.T
        if labels is None:
            picked = either * self.logit_scale
        else:
            picked = either.T * self.logit_scale
        return loss + weighed + sharp + picked.mean()


def train(contrast: Contrast, other: Other, loader, optimizer, device):
    contrast.to(device).train()
    for image, text, labels in loader:
        loss = contrast(image, text, labels) + other(image, text, labels, 2.0)
        loss = loss + contrast.named(image, text, labels) + contrast.divided(image, text, labels, 0.1)
        loss = loss + contrast.once(image, text, labels, contrast.logit_scale.exp())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
