import torch
from torchvision.utils import save_image


class Rivals:
    def __init__(self, generator, judge):
        self.generator = generator.cuda()
        self.judge = judge.cuda()
        self.last = None

    def improve_judge(self, optimizer, fakes, reals):
        loss = self.judge(fakes.detach()).mean() - self.judge(reals).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def improve_generator(self, optimizer, fakes):
        loss = -self.judge(fakes).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def train(self, images, first, second):
        for reals in images:
            noise = torch.randn(len(reals), 64, device="cuda")
            fakes = self.generator(noise)  # expect: PLM009
            self.improve_judge(first, fakes, reals.cuda())
            self.improve_generator(second, fakes)

    def train_tidily(self, images, first, second):
        for reals in images:
            # trap: dropped before the next is made
            fakes = self.generator(torch.randn(len(reals), 64, device="cuda"))
            self.improve_judge(first, fakes, reals.cuda())
            self.improve_generator(second, fakes)
            del fakes

    def train_openly(self, images, first, second):
        for reals in images:
            # trap: shown below the loop
            fakes = self.generator(torch.randn(len(reals), 64, device="cuda"))
            self.improve_judge(first, fakes, reals.cuda())
            self.improve_generator(second, fakes)
        save_image(fakes, "last.png")

    def train_inside(self, images, second):
        for reals in images:
            # trap: nothing here has a name for it
            self.improve_generator(second, self.generator(torch.randn(len(reals), 64, device="cuda")))
