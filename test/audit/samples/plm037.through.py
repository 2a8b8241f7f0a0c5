from itertools import islice

import torch
from torch.utils.data import DataLoader


class Upto:
    def __init__(self, batches, count):
        self.batches = batches
        self.left = count
        self.rest = iter(self.batches)

    def __iter__(self):
        return self

    def __next__(self):
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        try:
            rows = next(self.rest)
        except StopIteration:
            self.rest = iter(self.batches)
            rows = next(self.rest)
        return rows


class Sent:
    def __init__(self, batches):
        self.batches = batches

    def __iter__(self):
        for rows in self.batches:
            rows["image"] = rows["image"].cuda(non_blocking=True)
            yield rows


class Sorted:
    def __init__(self, batches):
        self.batches = batches

    def __iter__(self):
        for rows in self.batches:
            order = rows.argsort()
            rows = rows[order]
            yield rows


def counted(batches):
    for at, (rows, labels) in enumerate(batches):
        yield at, rows, labels


def train(net, data, optimizer):
    loader = DataLoader(data, batch_size=8, num_workers=4, pin_memory=True)
    for batch in Upto(loader, 100):
        loss = net(batch["image"].to("cuda")).mean()  # expect: PLM037
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    for _, rows, labels in counted(loader):
        loss = net(rows.cuda(), labels.cuda(non_blocking=True)).mean()  # expect: PLM037
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    for rows in islice(loader, 100):
        loss = net(rows.cuda()).mean()  # expect: PLM037
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    for batch in Sent(loader):
        # trap: there already
        loss = net(batch["image"].cuda()).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    for rows in Sorted(loader):
        # trap: picked anew, and so not pinned
        loss = net(rows.cuda()).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    torch.manual_seed(0)
