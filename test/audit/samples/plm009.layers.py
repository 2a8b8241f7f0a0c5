import torch
import torch.nn.functional as F


class Restorer:
    def __init__(self, net, vgg, features, optimizer):
        self.net = net
        self.vgg = vgg
        self.features = features
        self.optimizer = optimizer

    def fit(self, loader):
        for broken, whole in loader:
            fixed = self.net(broken.cuda())
            ours = self.vgg(fixed)  # expect: PLM009
            theirs = self.vgg(whole.cuda())  # expect: PLM009
            loss = sum(F.l1_loss(one, other) for one, other in zip(ours, theirs))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def fit_one(self, loader):
        for broken, whole in loader:
            fixed = self.net(broken.cuda())
            # trap: one row for each picture
            ours = self.features(fixed)[:, 0]
            # trap: the first of two
            pair = self.features(whole.cuda())
            loss = F.mse_loss(ours, pair[0])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
