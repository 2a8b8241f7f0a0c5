import torch
import torch.nn.functional as F


class Keeper:
    def __init__(self, net, optimizer):
        self.net = net.cuda()
        self.optimizer = optimizer
        self.recent = []
        self.newest = []
        self.cut = []
        self.by_name = {}

    def update(self, images, wanted, name):
        found = self.net(images.cuda())
        loss = F.mse_loss(found, wanted.cuda())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.recent = self.recent[-9:] + [found]  # expect: PLM017
        self.newest = [found, *self.newest][:9]  # expect: PLM017
        # trap: cut off
        self.cut = self.cut[-9:] + [found.detach()]
        # trap: one of each name
        self.by_name[name] = found.detach()


def fit(net, optimizer, loader, width):
    keeper = Keeper(net, optimizer)
    for images, wanted in loader:
        keeper.update(images, wanted, "all")


def fill(net, loader, optimizer, width):
    net.cuda()
    bank = torch.zeros(512, width, device="cuda")
    clean = torch.zeros(512, width, device="cuda")
    for images, wanted in loader:
        found = net(images.cuda())
        loss = F.cross_entropy(found, wanted.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        bank = torch.cat([bank[len(found) :], found])  # expect: PLM017
        # trap: cut off before it is joined
        clean = torch.cat([clean[len(found) :], found.detach()])
        # trap: of this turn alone
        rows = found
        rows = torch.cat([rows, found])
    return bank, clean, rows
