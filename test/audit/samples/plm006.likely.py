import torch
import torch.nn.functional as F


class Carry:
    def __init__(self, cell, head, opt):
        self.cell, self.head, self.opt = cell, head, opt
        self.h = None

    def train_step(self, x, y):
        out, self.h = self.cell(x, self.h)  # likely: PLM006
        loss = F.mse_loss(self.head(out), y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


class World:
    def __init__(self, rssm, opt):
        self.rssm, self.opt = rssm, opt
        self.state = None

    def update(self, batch):
        post, prior = self.rssm.observe(batch["embed"], self.state)  # likely: PLM006
        self.state = post
        loss = (post - prior).pow(2).mean()
        loss.backward()
        self.opt.step()


def train_memory(net, loader, opt):
    mems = tuple()
    for x, y in loader:
        ret = net(x, y, *mems)  # expect: PLM006
        loss, mems = ret[0], ret[1:]
        opt.zero_grad()
        loss.mean().backward()
        opt.step()


def train_kw(net, loader, opt, crit):
    prev = None
    for x, y in loader:
        out, prev = net(x, state=prev)  # likely: PLM006
        loss = crit(out, y)
        loss.backward()
        opt.step()
        opt.zero_grad()


def train_dict(net, loader, opt, crit):
    carry = {"h": None}
    for x, y in loader:
        out, carry["h"] = net(x, carry["h"])  # expect: PLM006
        loss = crit(out, y)
        loss.backward()
        opt.step()


def train_obj(net, loader, opt, crit, size):
    hidden = net.init_hidden(size)
    for x, y in loader:
        opt.zero_grad()
        res = net(x, hidden)  # expect: PLM006
        hidden = res["hidden"]
        loss = crit(res["out"], y)
        loss.backward()
        opt.step()


def train_two(enc, dec, loader, opt, crit):
    ctx = torch.zeros(8, 16).cuda()
    for x, y in loader:
        z = enc(x)
        ctx = 0.9 * ctx + 0.1 * z
        loss = crit(dec(z, ctx), y)  # likely: PLM006
        opt.zero_grad()
        loss.backward()
        opt.step()


def bptt(net, chunks, opt, crit):
    h = None
    for chunk, y in chunks:
        # trap: detached
        if h is not None:
            h = h.detach()
        out, h = net(chunk, h)
        loss = crit(out, y)
        loss.backward()
        opt.step()


def sequence(net, xs, y, opt, crit):
    h = None
    for x in xs:
        # trap: one backward through all of them
        out, h = net(x, h)
    loss = crit(out, y)
    loss.backward()
    opt.step()
