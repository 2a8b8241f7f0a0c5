import torch

from losses import adversarial


def train(gen_net, dis_net, gen_optimizer, dis_optimizer, loader):
    for real, z in loader:
        fake = gen_net(z)  # likely: PLM066
        d_loss = dis_net(fake).mean() - dis_net(real).mean()
        dis_optimizer.zero_grad()
        d_loss.backward()
        dis_optimizer.step()
        # trap: the critic's gradients of this loss are cleared with its own step, and told of where they are computed
        g_loss = -dis_net(gen_net(z)).mean()  # expect: PLM066
        gen_optimizer.zero_grad()
        g_loss.backward()
        gen_optimizer.step()


def cut_off(gen_net, dis_net, gen_optimizer, dis_optimizer, real, z):
    # trap: nothing of the loss goes back through it
    fake = gen_net(z).detach()
    d_loss = dis_net(fake).mean() - dis_net(real).mean()
    d_loss.backward()
    dis_optimizer.step()


def together(gen_net, dis_net, gen_optimizer, dis_optimizer, real, z):
    # trap: both take a step for it
    loss = dis_net(gen_net(z)).mean() - dis_net(real).mean()
    loss.backward()
    gen_optimizer.step()
    dis_optimizer.step()


class Painting:
    """Of a framework that makes the optimizers from a file of options."""

    def setup(self, options):
        self.optimizer_g = self.get_optimizer(options["g"], self.net_g.parameters())
        self.optimizer_d = self.get_optimizer(options["d"], self.net_d.parameters())

    def optimize_parameters(self):
        for p in self.net_d.parameters():
            p.requires_grad = True
        self.optimizer_d.zero_grad()
        fake, _ = self.net_g(self.noise())  # likely: PLM066
        l_d = adversarial(self.net_d(self.real), True) + adversarial(self.net_d(fake), False)
        l_d.backward()
        self.optimizer_d.step()

        # trap: the other one is switched off
        for p in self.net_d.parameters():
            p.requires_grad = False
        self.optimizer_g.zero_grad()
        fake, _ = self.net_g(self.noise())
        l_g = adversarial(self.net_d(fake), True)
        l_g.backward()
        self.optimizer_g.step()


class Frozen:
    def optimize_parameters(self):
        # trap: switched off before it paints for the other
        for p in self.net_g.parameters():
            p.requires_grad = False
        fake = self.net_g(self.noise())
        l_d = adversarial(self.net_d(self.real), True) + adversarial(self.net_d(fake), False)
        l_d.backward()
        self.optimizer_d.step()
        for p in self.net_g.parameters():
            p.requires_grad = True
        self.optimizer_g.zero_grad()
        for p in self.net_d.parameters():
            p.requires_grad = False
        l_g = adversarial(self.net_d(self.net_g(self.noise())), True)
        l_g.backward()
        self.optimizer_g.step()


class Sized:
    def optimize_parameters(self):
        for p in self.net_d.parameters():
            p.requires_grad = False
        # trap: only how large it is gets into the other's loss
        self.output = self.net_g(self.lq)
        _, _, c, h, w = self.output.size()
        self.optimizer_g.zero_grad()
        l_g = adversarial(self.net_d(self.output.view(-1, c, h, w)), True)
        l_g.backward()
        self.optimizer_g.step()

        for p in self.net_d.parameters():
            p.requires_grad = True
        self.optimizer_d.zero_grad()
        l_d = adversarial(self.net_d(self.output.view(-1, c, h, w).detach()), False)
        l_d.backward()
        self.optimizer_d.step()


def encoded(vae, dae, vae_optimizer, dae_optimizer, args, x, t):
    # trap: without the option it records nothing
    with torch.set_grad_enabled(args.train_vae):
        latent = vae(x)
    loss = dae(latent, t).square().mean()
    loss.backward()
    dae_optimizer.step()
    if args.train_vae:
        args.other_loss(vae, x).backward()
        vae_optimizer.step()


def adapted(source, target, critic, loader, criterion):
    of_critic = torch.optim.Adam(critic.parameters())
    optimizer_critic, optimizer_target = of_critic, torch.optim.Adam(target.parameters())
    for x, y in loader:
        # trap: what it made is cut off, and only counted besides
        made = target(y)
        scores = critic(torch.cat((source(x).detach(), made.detach())))
        labels = torch.zeros(made.size(0)).long()
        loss_critic = criterion(scores, labels)
        loss_critic.backward()
        optimizer_critic.step()
        optimizer_target.zero_grad()
