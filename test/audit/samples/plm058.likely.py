import torch
from torch.nn.parallel import DistributedDataParallel


def wrap(net, rank, options, moe=False):
    search = True
    if options.plain:
        search = False
    net = DistributedDataParallel(
        net,
        device_ids=[rank],
        gradient_as_bucket_view=True,
        find_unused_parameters=search,  # likely: PLM058
    )
    # trap: not unless somebody asks for it
    return DistributedDataParallel(net, gradient_as_bucket_view=True, find_unused_parameters=moe)


class Worker:
    def fit(self, loader):
        seen = 0
        for x, y in loader:
            loss = self.criterion(self.net(x), y) / self.parts
            loss.backward()  # likely: PLM058
            seen += 1
            if seen == self.parts:
                self.optimizer.step()
                self.optimizer.zero_grad()
                seen = 0

    def fit_often(self, loader):
        for x, y in loader:
            # trap: a step for each
            self.criterion(self.net(x), y).backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
