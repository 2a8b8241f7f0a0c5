import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class Colours(nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.measure = nn.MSELoss()
        self.rows = rows

    def near(self, made, wanted):
        kept = made[wanted > 0]  # expect: PLM028
        return F.relu(kept).mean()

    def forward(self, made, wanted, spread):
        hit = made["opacity"] > 0.5
        loss = self.measure(made["colour"][hit], wanted["colour"][hit])  # expect: PLM028, PLM028
        far = torch.abs(made["depth"][hit] - wanted["depth"])  # expect: PLM028
        hidden = F.pad(~hit, (1, 0))
        loss = loss + F.relu(made["row"][hidden]).mean() + F.relu(made["row"][hidden[:, 1:]]).mean()  # expect: PLM028, PLM028
        inside = (made["boxes"] > 0).all(dim=1)
        loss = loss + F.l1_loss(made["boxes"][inside], wanted["boxes"])  # expect: PLM028
        # trap: padded rows are picked by their numbers
        loss = loss + F.relu(made["row"][F.pad(wanted["order"], (1, 0))]).mean()
        # trap: NumPy counts on the host
        table = np.abs(self.rows[self.rows > 0])
        # trap: one truth picks one of two
        one = (far, loss)[spread == 1]
        # trap: nothing says that these are tensors
        names = wanted["names"][hit]
        return loss + far.mean() + self.near(made["depth"], wanted["depth"]) + table.sum() + one.mean() + len(names)


def train(loader, net):
    net = net.cuda()
    measure = Colours(np.zeros(8))
    optimizer = torch.optim.AdamW(net.parameters())
    for x, wanted in loader:
        optimizer.zero_grad()
        measure(net(x.cuda()), wanted, 1).backward()
        optimizer.step()
