import torch


class Experiment:
    def _predict(self, x):
        return self.model(x.cuda())

    @torch.no_grad()
    def _quiet(self, x):
        return self.model(x.cuda())

    def validate(self, loader):
        self.model.eval()
        for x in loader:
            print(self._predict(x).sum().item())  # expect: PLM019
        self.model.train()

    def validate_quietly(self, loader):
        self.model.eval()
        for x in loader:
            # trap: the helper switches recording off itself
            print(self._quiet(x).sum().item())

    def train(self, loader, optimizer):
        for x in loader:
            # trap: trains
            loss = self._predict(x).sum()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
