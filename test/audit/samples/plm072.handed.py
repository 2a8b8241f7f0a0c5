"""Views joined by a method; a loader that comes from outside, in a program whose loaders pin."""

import torch
from torch.utils.data import DataLoader


class Views:
    @staticmethod
    def joined(views):
        return torch.cat(views, dim=0)  # expect: PLM072

    def kept(self, views):
        # trap: stays on the host
        return torch.cat(views, dim=0)

    def fit(self, train_loader):
        for views, _ in train_loader:
            images = self.joined(views).cuda()
            print(self.kept(views).shape)
            self.net(images).mean().backward()
            self.optimizer.step()

    def sent(self, train_loader):
        for views, _ in train_loader:
            # trap: moved first, then joined
            images = torch.cat([view.cuda() for view in views])
            self.net(images).mean().backward()
            self.optimizer.step()


def main(data):
    loader = DataLoader(data, pin_memory=True)
    Views().fit(loader)
