import torch
import torch.nn as nn


class Spread(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.heads = heads
        self.proj = nn.Linear(8, 8).cuda()

    def forward(self, hidden, targets):
        if not (targets > 0).all():
            # trap: on no step that goes on
            raise ValueError(str((targets <= 0).nonzero()))
        # trap: a plain number
        wide = hidden.repeat_interleave(self.heads, dim=0)
        return self.proj(wide), hidden.repeat_interleave(targets, dim=0)  # likely: PLM028


class Watch:
    def on_batch_end(self, outputs, labels):
        if (labels > 9).any():
            # trap: on no step that goes on
            wrong = (labels > 9).nonzero()
            raise ValueError(str(wrong))
        # trap: written through a mask
        outputs[labels == 0] = 0.0
        return labels.unique()  # likely: PLM028


def train(net, loader, optimizer):
    for x, y in loader:
        loss = net(x.cuda(), y.cuda())[0].mean()
        loss.backward()
        optimizer.step()
