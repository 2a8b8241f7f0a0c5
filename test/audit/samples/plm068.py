import math

import torch
import torch.nn.functional as F

device = torch.device("cuda")


def train(model, loader, optimizer):
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        flags = torch.zeros(8, device=device)
        if math.isnan(loss):  # expect: PLM068
            break
        total = sum(flags)  # expect: PLM068
        # trap: on the device
        right = flags.sum()
        # trap: numbers
        low = math.log(step + 1) + sum([1, 2])
        if step % 100 == 0:
            # trap: now and then
            print(math.exp(loss))
        loss.backward()
        optimizer.step()
        print(total.shape, right.shape, low)


def attend(model, loader, optimizer):
    for x in loader:
        q = model(x).relu()
        # trap: a tuple of tensors, not a tensor
        heads = list(torch.chunk(q, 4, dim=0))
        sum(head.mean() for head in heads).backward()
        optimizer.step()


class Routed(torch.nn.Module):
    def forward(self, x):
        # trap: a list of tensors, added to what it starts from
        return sum([layer.loss for layer in self.layers], x.cuda().new_zeros(1).squeeze())


def spread(model, loader, optimizer, lengths):
    model.cuda()
    for x in loader:
        scores = model(x.cuda())
        top = max(scores[:, 0])  # expect: PLM068
        # trap: numbers
        longest = max(lengths)
        # trap: a dimension, by its size
        most = max(x.size(0), 8)
        (scores.mean() + top + 0 * longest * most).backward()
        optimizer.step()
