from torch import nn

from layers import Embed


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = Embed(100)

    def _wrapped(self, ids, options, names):
        count = ids.size(0)
        if ids.max() >= 100:  # expect: PLM027
            ids = [one for one in ids]
        # trap: what nobody uses as a tensor may be a list
        if max(options) > count:
            return None
        # trap: an attribute that is no method
        if names.size and names.max() > 3:
            return None
        return ids

    def forward(self, ids, options, names):
        return self.embed(self._wrapped(ids, options, names))


def train(loader, optimizer):
    net = Tagger().cuda()
    for ids, options, names, y in loader:
        loss = nn.functional.cross_entropy(net(ids.cuda(), options, names), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
