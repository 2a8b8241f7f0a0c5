import torch
from torch.utils.data import DataLoader


def make(rows):
    return DataLoader(rows, batch_size=8, num_workers=4, pin_memory=True)


class Trainer:
    def __init__(self, net, optimizer, train_loader):
        self.net, self.optimizer, self.train_loader = net, optimizer, train_loader

    def run_epoch(self, device):
        for data, target in self.train_loader:
            if not isinstance(data, (tuple, list)):
                data = (data,)
            parts = len(data)
            data = torch.cat(data, dim=0).cuda(non_blocking=True).chunk(parts)  # likely: PLM072
            # trap: moved before they are joined
            both = torch.cat([part.to(device) for part in data])
            # trap: never sent
            host = torch.stack([target, target.flip(0)]).sum()
            loss = self.net(both).mean() + host
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
