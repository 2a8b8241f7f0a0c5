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
