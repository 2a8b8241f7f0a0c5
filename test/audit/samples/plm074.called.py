from torch import nn


class Style(nn.Module):
    def __init__(self, features, precision="double"):
        super().__init__()
        self.features = features
        self.measure = nn.L1Loss()
        self.precision = precision

    def gram(self, maps):
        rows = maps.flatten(2).double()  # expect: PLM074
        return rows @ rows.mT

    def asked(self, maps):
        if self.precision == "double":
            # trap: whoever sets it wants it
            maps = maps.double()
        return maps.mean()

    def told(self, maps):
        # trap: nobody calls it in a step
        return maps.flatten(2).double().mean()

    def __call__(self, made, wanted):
        loss = self.measure(self.gram(self.features(made)), self.gram(self.features(wanted)))
        return loss + self.asked(made)


def train(loader, net, features, optimizer):
    net = net.cuda()
    measure = Style(features.cuda())
    for x, wanted in loader:
        optimizer.zero_grad()
        measure(net(x.cuda()), wanted.cuda()).backward()
        optimizer.step()
