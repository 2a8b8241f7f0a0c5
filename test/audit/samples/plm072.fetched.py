import torch


class Ahead:
    def __init__(self, loader, device):
        self.batches = iter(loader)
        self.device = device
        self.near = None
        self.far = None

    def fetch(self):
        (self.near, self.far), _ = next(self.batches)
        return torch.cat([self.near, self.far]).to(self.device, non_blocking=True)  # expect: PLM072


class Behind:
    def __init__(self, loader, device):
        self.batches = iter(loader)
        self.device = device

    def fetch(self):
        near, far = next(self.batches)
        self.near = near.to(self.device, non_blocking=True)
        self.far = far.to(self.device, non_blocking=True)
        # trap: there already
        return torch.cat([self.near, self.far]).to(self.device, non_blocking=True)


def mirrored(images, device):
    both = torch.cat([images, images.flip(-1)])  # expect: PLM072
    return both.float().cuda(non_blocking=True)


def mirrored_there(images, device):
    images = images.cuda(non_blocking=True)
    # trap: joined where it is wanted
    return torch.cat([images, images.flip(-1)])


def train(net, loader, optimizer, device, total):
    ahead, behind = Ahead(loader, device), Behind(loader, device)
    for images in loader:
        loss = net(ahead.fetch(), behind.fetch(), mirrored(images, device), mirrored_there(images, device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Reader:
    def __init__(self, to_device):
        self.to_device = to_device

    def read(self, batch):
        waves, gates = batch
        return self.to_device(torch.cat([waves, gates], dim=1))


def learn(net, loader, optimizer):
    reader = Reader(lambda t: t)
    for batch in loader:
        # trap: what becomes of it is not known
        loss = net(reader.read(batch)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
