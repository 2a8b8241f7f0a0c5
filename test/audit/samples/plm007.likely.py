import torch
import torch.nn.functional as F


class GAN:
    def train(self, loader):
        for real in loader:
            z = torch.randn(8, 64).cuda()
            fake = self.G(z)
            d_loss = F.softplus(self.D(fake.detach())).mean() + F.softplus(-self.D(real)).mean()
            self.opt_d.zero_grad()
            d_loss.backward(retain_graph=True)  # expect: PLM007
            self.opt_d.step()
            g_loss = F.softplus(-self.D(fake)).mean()
            self.opt_g.zero_grad()
            g_loss.backward(retain_graph=True)  # expect: PLM007
            self.opt_g.step()

    def backward_G(self):
        self.loss_G = self.crit(self.D(self.fake)) + self.l1(self.fake, self.real)
        self.loss_G.backward(retain_graph=True)  # expect: PLM007


def multi(model, loader, opt, scaler):
    for x, y in loader:
        a, b = model(x)
        l1 = F.mse_loss(a, y)
        l2 = F.mse_loss(b, y)
        opt.zero_grad()
        # trap: the second goes through the same network
        l1.backward(retain_graph=True)
        l2.backward(retain_graph=True)  # likely: PLM007
        opt.step()


def acc(accelerator, model, loader, opt):
    for batch in loader:
        out = model(**batch)
        accelerator.backward(out.loss, retain_graph=True)  # likely: PLM007
        opt.step()
        opt.zero_grad()


def scaled(model, loader, opt, scaler, cfg):
    keep = True
    for batch in loader:
        loss = model(batch)
        scaler.scale(loss).backward(retain_graph=keep)  # expect: PLM007
        scaler.step(opt)
        scaler.update()


def tensors(model, loader, opt):
    for batch in loader:
        losses = model(batch)
        torch.autograd.backward([losses["a"], losses["b"]], retain_graph=True)  # likely: PLM007
        opt.step()


def closure_style(model, loader, opt):
    for x, y in loader:
        def closure():
            opt.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward(retain_graph=True)  # expect: PLM007
            return loss
        opt.step(closure)


def rl(policy, memory, opt):
    for _ in range(4):
        s, a, r = memory.sample()
        logp, v, ent = policy.evaluate(s, a)
        loss = -(logp * r).mean() + F.mse_loss(v, r) - 0.01 * ent.mean()
        opt.zero_grad()
        loss.mean().backward(retain_graph=True)  # expect: PLM007
        opt.step()


def carried(net, loader, opt, crit):
    h = None
    for x, y in loader:
        out, h = net(x, h)
        loss = crit(out, y)
        # trap: the state goes on
        loss.backward(retain_graph=True)
        opt.step()


def outside(net, x, opt):
    y = net(x)
    for k in range(10):
        loss = y[k].sum()
        # trap: one graph for all turns
        loss.backward(retain_graph=True)
    opt.step()


def penalty(D, loader, opt):
    for x in loader:
        d = D(x)
        loss = d.mean()
        # trap: differentiated again
        loss.backward(retain_graph=True)
        g = torch.autograd.grad(d.sum(), x, create_graph=True)[0]
        g.pow(2).mean().backward()
        opt.step()


def timed(repeats, render, means):
    loss = render(means).sum()

    def backward():
        # trap: whoever is handed this calls it again and again
        loss.backward(retain_graph=True)
        means.grad = None

    return timeit(repeats, backward)
