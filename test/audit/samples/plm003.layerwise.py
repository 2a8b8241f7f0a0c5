import torch
import torch.nn.functional as F
from torch import nn


class Graph(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.hops = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.skips = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])

    def forward(self, x):
        for hop in self.hops:
            x = F.elu(hop(x))
        return x

    def all_nodes(self, rows, neighbour_loader):
        for depth, hop in enumerate(self.hops):
            parts, kept = [], []
            for ids in neighbour_loader:
                x = rows[ids].cuda()
                x = hop(x) + self.skips[depth](x)
                if depth < 2:
                    x = F.leaky_relu(x)
                parts.append(x)  # expect: PLM003
                # trap: on the host
                kept.append(x.cpu())
            rows = torch.cat(parts)
        return rows


@torch.no_grad()
def test(graph, rows, neighbour_loader):
    graph.eval()
    return graph.all_nodes(rows, neighbour_loader).argmax(-1)


@torch.inference_mode()
def gather(net, loader):
    batches, masks, counts, empty = iter(loader), [], [], []
    while True:
        try:
            images = next(batches)
        except StopIteration:
            break
        out = net(images.cuda())
        masks.append(out.sigmoid() > 0.5)  # expect: PLM003
        # trap: numbers
        counts.append((out > 0).sum().item())
        # trap: not of the network
        empty.append(images > 0)
    return masks, counts, empty


def train(graph, net, loader, optimizer):
    for rows, images, wanted in loader:
        loss = F.mse_loss(graph(rows.cuda()) + net(images.cuda()), wanted.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
