import torch
from torch.utils.data import DataLoader


def make(rows):
    return DataLoader(rows, batch_size=8, num_workers=4, pin_memory=True)


class Trainer:
    def __init__(self, net, optimizer, train_loader, device):
        self.net, self.optimizer = net, optimizer
        self.train_loader, self.device = train_loader, device

    def to_device(self, sample):
        return {k: v.to(self.device) for k, v in sample.items()}  # likely: PLM037

    def fit(self):
        for sample in self.train_loader:
            sample = self.to_device(sample)
            loss = self.net(sample["x"]).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def fit_scaled(self):
        for x, y in self.train_loader:
            # trap: what is computed on the host is not pinned
            x = (x / 255).to(self.device)
            # trap: asked not to wait
            y = y.to(self.device, non_blocking=True)
            loss = self.net(x).sub(y).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
