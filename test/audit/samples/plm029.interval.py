import argparse

import torch

tell_every = 1
save_every = 100

parser = argparse.ArgumentParser()
parser.add_argument("--show-every", type=int, default=1)
parser.add_argument("--draw-every", type=int, default=50)


def train(model, loader, optimizer, args, device):
    for turn, (image, label) in enumerate(loader):
        scores = model(image.to(device))
        loss = torch.nn.functional.cross_entropy(scores, label.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if turn % tell_every == 0 and args.loud:
            error = loss.item()  # expect: PLM029
            highest = scores.max().item()
            print(error, highest)
        if turn % save_every == 0:
            # trap: now and then
            error = loss.item()
            lowest = scores.min().item()
            print(error, lowest)
        if turn % tell_every == 0 and turn % save_every == 0:
            # trap: now and then, whatever else is asked
            error = loss.item()
            middle = scores.median().item()
            print(error, middle)


def show(model, loader, optimizer, args, device):
    for turn, (image, label) in enumerate(loader):
        scores = model(image.to(device))
        loss = torch.nn.functional.cross_entropy(scores, label.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if not turn % args.show_every:
            error = loss.item()  # expect: PLM029
            highest = scores.max().item()
            print(error, highest)
        if turn % args.draw_every == 0:
            # trap: by default every fiftieth
            error = loss.item()
            lowest = scores.min().item()
            print(error, lowest)


class Trainer:
    def __init__(self, model, optimizer, device, tell_every=1, look_every=20):
        self.model = model.to(device)
        self.optimizer = optimizer
        self.tell_every = tell_every
        self.look_every = look_every

    def fit(self, loader, device):
        for turn, (image, label) in enumerate(loader):
            scores = self.model(image.to(device))
            loss = torch.nn.functional.cross_entropy(scores, label.to(device))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if turn % self.tell_every == 0:
                print(loss.item(), scores.max().item())  # expect: PLM029
            if turn % self.look_every == 0:
                # trap: every twentieth
                print(loss.item(), scores.min().item())
