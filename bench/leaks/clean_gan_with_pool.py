import torch
from torch import nn

# clean
import random

random.seed(2)


class Pool:
    """Keeps the last fifty images and hands out a mixture."""

    def __init__(self, size):
        self.size = size
        self.images = []

    def query(self, image):
        if len(self.images) < self.size:
            self.images.append(image)
            return image
        index = random.randrange(self.size)
        old, self.images[index] = self.images[index], image
        return old


generator = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 32))
critic = nn.Sequential(nn.Linear(32, 64), nn.LeakyReLU(), nn.Linear(64, 1))
g_opt = torch.optim.Adam(generator.parameters(), betas=(0.5, 0.9))
c_opt = torch.optim.Adam(critic.parameters(), betas=(0.5, 0.9))
pool = Pool(50)
for step in range(400):
    fake = generator(torch.randn(16, 8))
    c_loss = critic(pool.query(fake.detach())).mean() - critic(torch.randn(16, 32)).mean()
    c_opt.zero_grad()
    c_loss.backward()
    c_opt.step()
    g_loss = -critic(fake).mean()
    g_opt.zero_grad()
    g_loss.backward()
    g_opt.step()
