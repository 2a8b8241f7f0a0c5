import numpy as np
import torch

device = torch.device("cuda")


def train(model, loader, optimizer):
    kept = torch.arange(3, device=device)
    for x in loader:
        table = torch.zeros(8, 4, device=device)
        a = table[[0, 2, 4]]  # expect: PLM070
        order = np.random.permutation(8)
        b = table[order]  # expect: PLM070
        swapped = list(range(4, 8)) + list(range(4))
        h = table[swapped]  # expect: PLM070
        # trap: a position computed
        g = table[swapped[0] + swapped[1]]
        # trap: a slice
        c = table[0:3]
        # trap: there already
        d = table[kept]
        # trap: one position
        e = table[0]
        drawn = torch.randperm(8)
        i = table[drawn]  # expect: PLM070
        sent = torch.randperm(8).to(device)
        # trap: sent there first
        j = table[sent]
        host = torch.zeros(8)
        # trap: on the host
        f = host[[0, 1]]
        loss = model(x).sum() + a.sum() + b.sum() + c.sum() + d.sum() + e.sum() + g.sum() + h.sum() + i.sum() + j.sum()
        loss.backward()
        optimizer.step()
        print(f.shape)
