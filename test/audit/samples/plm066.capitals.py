import torch

from networks import Discriminator, Generator


class Cycle:
    def __init__(self, device):
        self.A_Generator = Generator().to(device)
        self.A_Discriminator = Discriminator().to(device)
        self.generator_opt = torch.optim.Adam(self.A_Generator.parameters())
        self.discriminator_opt = torch.optim.Adam(self.A_Discriminator.parameters())

    def calculate_generator_loss(self, fake, real):
        judged = self.A_Discriminator(fake)  # expect: PLM066
        return (judged - 1).square().mean() + (self.A_Generator(real) - real).abs().mean()

    def calculate_discriminator_loss(self, fake, real):
        # trap: it learns from that
        return (self.A_Discriminator(real) - 1).square().mean() + self.A_Discriminator(fake).square().mean()
