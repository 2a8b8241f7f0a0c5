from torch.utils.data import DataLoader


class Fitter:
    def __init__(self, net, opt, rows):
        self.net = net.cuda()
        self.opt = opt
        self.rows = DataLoader(rows, batch_size=8, pin_memory=True)

    def parts(self, batch):
        return batch["image"], batch["kind"]

    def joined(self, batch):
        return batch["image"].flip(0), batch["kind"]

    def sent(self, batch):
        batch["image"] = batch["image"].cuda(non_blocking=True)
        return batch["image"], batch["kind"]

    def step(self, image, kind):
        image = image.cuda()  # expect: PLM037
        kind = kind.cuda()  # expect: PLM037
        self.net(image, kind).backward()
        self.opt.step()
        self.opt.zero_grad()

    def fit(self):
        for batch in self.rows:
            image, kind = self.parts(batch)
            self.step(image, kind)

    def fit_turned(self):
        for batch in self.rows:
            image, kind = self.joined(batch)
            # trap: what is turned is new, and not pinned
            image = image.cuda()
            kind = kind.cuda()  # expect: PLM037
            self.net(image, kind).backward()
            self.opt.step()
            self.opt.zero_grad()

    def fit_sent(self):
        for batch in self.rows:
            image, kind = self.sent(batch)
            # trap: it is there already
            image = image.cuda()
            self.net(image, kind).backward()
            self.opt.step()
            self.opt.zero_grad()
