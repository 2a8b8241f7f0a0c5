import torch
import torch.nn as nn
import torch.nn.functional as F


class Joined(nn.Module):
    def __init__(self, up, head):
        super().__init__()
        self.up = up
        self.head = head

    def forward(self, x, skip, scores, prior):
        x = self.up(x, skip.clone())  # likely: PLM081
        both = torch.cat([x.clone(), skip], dim=1)  # likely: PLM081
        weights = torch.clone(scores) * 0.5  # likely: PLM081
        kept = both.detach().clone()  # likely: PLM081
        # trap: the copy is written into
        marked = scores.clone()
        marked[:, 0] = 0.0
        # trap: what it is a copy of is written into afterwards
        before = prior.clone()
        prior.add_(1.0)
        # trap: by a name of the copy's part
        part = x.clone()
        part[0].fill_(0.0)
        # trap: what learns
        start = x.clone().requires_grad_(True)
        # trap: a part is copied so that the rest can go
        last = x[:, -1].clone()
        return self.head(both) + kept + weights + marked + before + part + start + last


class Kept(nn.Module):
    def __init__(self, blocks):
        super().__init__()
        self.blocks = blocks

    def forward(self, x):
        feats = []
        for block in self.blocks:
            x = block(x) + 1
            feats.append(x.clone())  # likely: PLM081
        # trap: what the object keeps is written to by others
        old = self.mean.clone()
        # trap: a function that may write into what it is given
        mixed = self.mixup(x.clone())
        # trap: asked to work in place
        active = F.relu(x.clone(), inplace=self.inplace)
        return feats, old + mixed + active


class Steady(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body
        self.compresses = False

    def forward(self, inputs, ids):
        # trap: one of many that it is handed, and as small
        past = inputs["past"].clone()
        kept = ids
        # trap: nothing is in it
        none = torch.tensor([], device=past.device)
        begun = none.clone()
        y = self.body(past) + kept.sum()
        # trap: what it goes through
        chain = [y.clone()]
        for _ in range(4):
            y = self.body(y) + 1
            chain.append(y)
        if not self.compresses:
            return torch.cat((begun, y)), chain
        # trap: nobody has asked for it
        return (y.clone() * 2).cpu(), chain


def reduced(value, world_size, dist):
    total = value.clone()  # trap: the others' numbers are written into it
    dist.all_reduce(total)
    return total / world_size


def train(net, loader, optimizer, f_score, mix_iou):
    net.cuda()
    for x, y in loader:
        out = net(x.cuda())
        loss = F.cross_entropy(out, y.cuda())
        with torch.no_grad():
            score = f_score(out.clone(), y)  # likely: PLM081
            # trap: by its name it may write into it
            other = update_scores(out.clone(), y)
        print(score, other)
        loss.backward()
        optimizer.step()
