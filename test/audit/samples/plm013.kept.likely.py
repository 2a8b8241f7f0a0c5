"""Functions that wait in a list for the end of an epoch, each with what its step had on the device."""

from functools import partial

import torch
from torchvision.utils import save_image


def train(generator, judge, loader, optimizer):
    generator.cuda()
    for epoch in range(9):
        pending, numbers, drawn = [], [], []
        for step, noise in enumerate(loader):
            noise = noise.cuda()
            images = generator(noise)
            loss = -judge(images).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            pending.append(partial(save_image, images.data[:25], f"{epoch}_{step}.png"))  # expect: PLM013
            # trap: a copy on the host
            drawn.append(partial(save_image, images.data[:25].cpu(), f"{epoch}_{step}.png"))
            # trap: a number
            numbers.append(lambda value=loss.detach(): print(value.item()))
        for save in (*pending, *numbers, *drawn):
            save()


class Run:
    def train(self, loader, criterion):
        plots, shown = [], []
        for batch in loader:
            self.optimizer.zero_grad()
            pred, true = self.process(batch)
            loss = criterion(pred, true)
            loss.backward()
            self.optimizer.step()
            plots.append(lambda pred=pred: self.plot(pred))  # likely: PLM013
            # trap: all of them share one variable, which holds the last turn's
            shown.append(lambda: self.plot(pred))
        for plot in plots[-3:] + shown[-1:]:
            plot()

    def plot(self, pred):
        print(torch.std_mean(pred))
