import torch
import torch.nn.functional as F
from torch import nn


class Matching(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.logit_scale = nn.Parameter(torch.zeros([]))
        self.layer_scale = nn.Parameter(torch.ones(width))
        self.proj = nn.Linear(width, width)

    def forward(self, outputs, labels):
        logit_scale = outputs["logit_scale"]
        likeness = outputs["pictures"] @ outputs["texts"].t()
        scores = logit_scale * likeness  # expect: PLM048
        return F.cross_entropy(scores, labels)

    def small(self, outputs, labels):
        logit_scale = outputs["logit_scale"]
        # trap: the smaller operand is scaled
        scores = (logit_scale * outputs["pictures"]) @ outputs["texts"].t()
        return F.cross_entropy(scores, labels)

    def learnt(self, pictures, texts, labels):
        likeness = pictures @ texts.t()
        # trap: it learns, and its gradient needs the product
        scores = likeness * self.logit_scale.exp()
        return F.cross_entropy(scores, labels)

    def branch(self, x):
        out = self.proj(x)
        # trap: a vector, which needs what it scales
        scaled = out * self.layer_scale
        return x + scaled

    def again(self, outputs, labels):
        logit_scale = outputs["logit_scale"]
        likeness = outputs["pictures"] @ outputs["texts"].t()
        scores = logit_scale * likeness
        # trap: the unscaled ones are wanted too
        return F.cross_entropy(scores, labels), likeness.diagonal().mean()


class Softened(nn.Module):
    def __init__(self, temperature=2.0):
        super().__init__()
        self.temperature = temperature

    def forward(self, ours, theirs):
        rows = ours.permute(0, 2, 3, 1).contiguous().view(-1, ours.size(1))
        cooled = rows / self.temperature  # expect: PLM048
        others = theirs.flatten(2)
        # trap: a view, which is the caller's
        turned = others / self.temperature
        return F.log_softmax(cooled, dim=1).mean() - F.softmax(turned, dim=1).mean()


class Near(nn.Module):
    def __init__(self, tau=0.5):
        super().__init__()
        self.tau = tau

    def forward(self, points, centres, labels):
        apart = torch.cdist(points, centres)
        scores = -apart / self.tau  # expect: PLM048
        return F.cross_entropy(scores, labels)
