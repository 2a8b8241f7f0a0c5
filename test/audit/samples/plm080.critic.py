import torch


class Wgan:
    def __init__(self, G, D):
        self.G, self.D = G.cuda(), D.cuda()
        self.g_optimizer = torch.optim.Adam(self.G.parameters())
        self.d_optimizer = torch.optim.Adam(self.D.parameters())

    def train(self, rounds, critic_rounds):
        for _ in range(rounds):
            z = torch.randn(64, 100, device="cuda")
            for _ in range(critic_rounds):
                self.D.zero_grad()
                real = next(self.data).cuda()
                fake = self.G(z).detach()  # expect: PLM080
                (self.D(fake).mean() - self.D(real).mean()).backward()
                self.d_optimizer.step()
            self.G.zero_grad()
            (-self.D(self.G(z)).mean()).backward()
            self.g_optimizer.step()

    def with_new_noise(self, rounds, critic_rounds):
        for _ in range(rounds):
            for _ in range(critic_rounds):
                z = torch.randn(64, 100, device="cuda")
                # trap: of other noise each time
                fake = self.G(z).detach()
                (self.D(fake).mean() - self.D(next(self.data)).mean()).backward()
                self.d_optimizer.step()

    def together(self, rounds, z):
        for _ in range(rounds):
            # trap: it has learnt since
            fake = self.G(z).detach()
            (self.D(fake).mean() - self.D(next(self.data)).mean()).backward()
            self.d_optimizer.step()
            (-self.D(self.G(z)).mean()).backward()
            self.g_optimizer.step()
