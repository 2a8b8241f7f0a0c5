import torch
from torch import nn


class Stereo(nn.Module):
    def __init__(self):
        super().__init__()
        self.maps = nn.Conv2d(3, 32, 3, padding=1)
        self.costs = nn.Conv3d(32, 1, 3, padding=1)

    def forward(self, views):
        seen = [self.maps(view) for view in views.unbind(1)]
        first = seen[0].unsqueeze(2).repeat(1, 1, 48, 1, 1)
        total = first
        squares = first**2
        other_total = first
        flat = seen[0]
        same = first
        running = first
        for other in seen[1:]:
            moved = other.unsqueeze(2).expand_as(first)
            total = total + moved
            squares = squares + moved**2
            other_total = other_total + moved
            flat = flat + other
            same = same + moved
            running = running + moved
            # trap: the next turn adds to it
            so_far = running / 2
            print(so_far.shape)
        mean = total / len(seen)  # expect: PLM048
        # trap: read again below
        other_mean = other_total / len(seen)
        # trap: maps are far smaller than a volume of them
        flat_mean = flat / len(seen)
        # trap: the sum has lost its name
        same = same / len(seen)
        # trap: dropped right away
        spread = squares / len(seen)
        del squares
        out = self.costs(spread - mean**2) + self.costs(other_mean - other_total) + self.costs(same)
        return out.mean(2) + flat_mean.mean(1, keepdim=True)


def train(loader):
    net = Stereo().cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for views, truth in loader:
        loss = (net(views.cuda()) - truth.cuda()).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
