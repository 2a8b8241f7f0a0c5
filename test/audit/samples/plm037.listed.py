import torch
from torch.utils.data import DataLoader


def run(net, optimizer, train_set, valid_set):
    train_loader = DataLoader(train_set, num_workers=4, pin_memory=True)
    valid_loader = DataLoader(valid_set, num_workers=4)
    for epoch in range(10):
        if epoch % 2:
            one_epoch(net, optimizer, [train_loader, valid_loader])
        else:
            one_epoch(net, optimizer, (train_loader, None))
        by_place(net, optimizer, [train_loader, valid_loader])
        mixed(net, optimizer, [train_loader])
        mixed(net, optimizer, [valid_loader])
    Trainer(net, optimizer, (train_loader, valid_loader)).run()


def one_epoch(net, optimizer, loaders):
    train_loader, valid_loader = loaders
    for x in train_loader:
        x = x.cuda()  # expect: PLM037
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
    for x in valid_loader:
        # trap: this one pins nothing
        x = x.cuda()
        print(net(x).shape)


def by_place(net, optimizer, loaders):
    for x in loaders[0]:
        x = x.cuda()  # expect: PLM037
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
    for x in loaders[1]:
        # trap: nor here
        x = x.cuda()
        print(net(x).shape)


def mixed(net, optimizer, loaders):
    (loader,) = loaders
    for x in loader:
        # one of the two that are handed in pins nothing
        x = x.cuda()  # likely: PLM037
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()


class Trainer:
    def __init__(self, net, optimizer, loaders):
        self.net = net
        self.optimizer = optimizer
        self.train_loader, self.valid_loader = loaders

    def run(self):
        for x in self.train_loader:
            x = x.cuda()  # expect: PLM037
            self.optimizer.zero_grad()
            self.net(x).mean().backward()
            self.optimizer.step()
        with torch.no_grad():
            for x in self.valid_loader:
                # trap: nor here
                print(self.net(x.cuda()).shape)
