import torch
from torchvision.utils import save_image

from config import discriminator, generator, optimizer


def train(loader):
    for real in loader:
        optimizer.zero_grad()
        loss = discriminator(generator(real.cuda())).mean()
        loss.backward()
        optimizer.step()


def main(loader, noise, epochs):
    for epoch in range(epochs):
        train(loader)
        generator.eval()
        fake = generator(noise).detach()  # expect: PLM019
        save_image(fake, f"{epoch}.png")
        with torch.no_grad():
            # trap: recorded by nobody
            shown = generator(noise)
        save_image(shown, f"{epoch}.again.png")
        generator.train()


def before(loader, noise, epochs):
    for epoch in range(epochs):
        # trap: the steps come after it, and it is differentiated there
        fake = generator(noise)
        train(loader, fake)
        save_image(fake, f"{epoch}.png")
