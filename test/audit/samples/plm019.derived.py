"""Evaluations that the class above calls."""

import torch


class Base:
    def fit(self, epochs):
        for epoch in range(epochs):
            self._train(epoch)
            self.net.eval()
            self._validate(epoch)

    def measure(self, epochs):
        for epoch in range(epochs):
            with torch.no_grad():
                self._evaluate(epoch)

    def _train(self, epoch):
        raise NotImplementedError

    def _validate(self, epoch):
        raise NotImplementedError

    def _evaluate(self, epoch):
        raise NotImplementedError


class Fitted(Base):
    def _validate(self, epoch):
        total = 0.0
        for x, y in self.val_loader:
            total += (self.net(x.cuda()) - y.cuda()).square().mean().item()  # expect: PLM019
        print(epoch, total)

    def _evaluate(self, epoch):
        total = 0.0
        for x, y in self.val_loader:
            # trap: the class above records nothing
            total += (self.net(x.cuda()) - y.cuda()).square().mean().item()
        print(epoch, total)


class Apart(Unseen):
    def _validate(self, epoch):
        total = 0.0
        for x, y in self.val_loader:
            # trap: nobody is seen calling it
            total += (self.net(x.cuda()) - y.cuda()).square().mean().item()
        print(epoch, total)


def main(fitted):
    fitted = Fitted()
    fitted.fit(3)
    fitted.measure(3)
