"""Pictures that are made after the steps of an epoch."""

import torch
from torch.nn import functional as F
from torchvision.utils import save_image


def train(net, loader, optimizer, epochs):
    for epoch in range(epochs):
        for x, _ in loader:
            x = x.cuda()
            out, mean, spread = net(x)
            loss = F.mse_loss(out, x) + mean.square().mean() + spread.square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        again, _, _ = net(x)  # expect: PLM019
        save_image(torch.cat([x, again]), f"{epoch}.png")


def careful(net, loader, optimizer, epochs):
    for epoch in range(epochs):
        for x, _ in loader:
            x = x.cuda()
            out, mean, spread = net(x)
            loss = F.mse_loss(out, x) + mean.square().mean() + spread.square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            # trap: nothing is recorded
            again, _, _ = net(x)
        save_image(torch.cat([x, again]), f"{epoch}.png")


def refined(net, loader, optimizer, epochs):
    for epoch in range(epochs):
        for x, _ in loader:
            x = x.cuda()
            out, mean, spread = net(x)
            loss = F.mse_loss(out, x) + mean.square().mean() + spread.square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        # trap: it learns from it as well
        again, _, _ = net(x)
        save_image(again, f"{epoch}.png")
        F.mse_loss(again, x).backward()
        optimizer.step()


def rows_of(net, loader, optimizer, fixed, kinds):
    for step, (x, kind) in enumerate(loader):
        x = x.cuda()
        loss = F.mse_loss(net(x, kind), x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            rows = [fixed]
            for one in kinds:
                rows.append(net(fixed, one))  # expect: PLM019
            save_image(torch.cat(rows, dim=3).data.cpu(), f"rows-{step}.png")
        if step % 200 == 0:
            again = [net(fixed, one) for one in kinds]  # expect: PLM019
            save_image(torch.cat(again), f"again-{step}.png")
        if step % 300 == 0:
            save_image(net(fixed, kinds[0]).data[:25], f"first-{step}.png")  # expect: PLM019


def kept_for_later(net, loader, optimizer, fixed, kinds):
    rows = []
    for step, (x, kind) in enumerate(loader):
        x = x.cuda()
        if step % 100 == 0:
            # trap: the loss is made of it as well
            rows.append(net(fixed, kinds[0]))
            save_image(rows[0], f"first-{step}.png")
        loss = F.mse_loss(net(x, kind), x) + torch.stack(rows).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def scored(net, loader, optimizer, meter):
    for x, y in loader:
        x, y = x.cuda(), y.cuda()
        loss = F.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        net.eval()
        right = (net(x).argmax(-1) == y).float().mean()  # expect: PLM019
        net.train()
        meter.update(right.item())


def learned_in_eval(net, loader, optimizer, meter):
    for x, y in loader:
        x, y = x.cuda(), y.cuda()
        net.eval()
        # trap: its norms are held still, and it is what is differentiated
        out = net(x)
        meter.update((out.argmax(-1) == y).float().mean().item())
        net.train()
        loss = F.cross_entropy(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def measured(net, loader, held_out, optimizer):
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(net(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            other, label = next(held_out)
            score = F.cross_entropy(net(other.cuda()), label.cuda())  # expect: PLM019
            print(step, loss.item(), score.item())


def also_learned(net, loader, held_out, optimizer):
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(net(x.cuda()), y.cuda())
        if step % 16 == 0:
            other, _ = next(held_out)
            # trap: the step learns from it
            smooth = F.mse_loss(net(other.cuda()), net(other.cuda() + 0.1))
            loss = loss + smooth
            print(step, smooth.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Drawing:
    def __init__(self, net, noise):
        self.net = net.cuda()
        self.noise = noise.cuda()
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def fit(self, loader):
        for step, x in enumerate(loader):
            self.optimizer.zero_grad()
            self.net(x.cuda()).mean().backward()
            self.optimizer.step()
            if step % 500 == 0:
                self.save_samples(step)
                self.saved(step)

    def save_samples(self, step):
        images = self.net(self.noise)  # expect: PLM019
        save_image(images, f"{step}.png")

    def saved(self, step):
        # trap: handed back, somebody may differentiate it
        images = self.net(self.noise)
        save_image(images, f"{step}.png")
        return images
