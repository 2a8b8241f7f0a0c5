import torch
import torch.nn.functional as F

device = torch.device("cuda")


def train(model, loader, optimizer):
    for x, y in loader:
        labels = y.to(device)
        target = torch.zeros(8, device=device)
        loss = F.cross_entropy(model(x.to(device)), labels)
        mask = target > 0
        kept = target[mask]  # expect: PLM028
        where = torch.nonzero(target)  # expect: PLM028
        which = target.unique()  # expect: PLM028
        # trap: masked_fill, without a wait
        target[mask] = 0.0
        # trap: a position, not a mask
        first = target[0]
        # trap: a known size
        twice = target.repeat_interleave(2)
        host = torch.zeros(4)
        # trap: on the host
        few = host.nonzero()
        loss.backward()
        optimizer.step()
        print(kept.shape, where.shape, which.shape, first.shape, twice.shape, few)


class Pooled(torch.nn.Module):
    def forward(self, x, mask, order):
        x = x.cuda()
        # trap: a product, of a fixed size
        x = x * mask
        # trap: rows by their numbers
        x = x[order]
        return x[mask]  # expect: PLM028


class Detector(torch.nn.Module):
    def forward(self, x, targets, step):
        # trap: one of two layers, by a number
        layer = (self.first, self.second)[step > 0]
        # trap: a list with one entry an image
        boxes = [one["boxes"] for one in targets]
        first = targets[0]
        return layer(x.cuda()), boxes, first


class Masked(torch.nn.Module):
    def forward(self, predictions, targets):
        valid = targets > 0
        return predictions[valid].mean()  # expect: PLM028
