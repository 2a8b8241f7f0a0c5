import numpy as np
import torch
from tools import minibatch, project, shuffle

device = torch.device("cuda")


def train_pairs(net, optimizer, left, right):
    left = left.to(device)
    right = right.to(device)
    order = shuffle(np.arange(len(left)))
    for step, rows in enumerate(minibatch(order, batch_size=64)):
        loss = net(left[rows], right[rows])  # expect: PLM070
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    # trap: told where they are wanted, they may be there
    for rows in minibatch(order, batch_size=64, device=device):
        loss = net(left[rows], right[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def train_some(net, optimizer, loader, weak):
    net.to(device)
    for step, (x, y) in enumerate(loader):
        scores = net(x.to(device))
        kept = [i for i, kind in enumerate(y.tolist()) if kind in weak]
        loss = scores.mean()
        if len(kept) > 0:
            loss = loss + scores[kept].mean()  # expect: PLM070
        if step % 100 == 0:
            # trap: now and then
            print(scores[kept].mean())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Poses:
    def __init__(self, net, optimizer):
        self.net = net.to(device)
        self.optimizer = optimizer
        self.body = list(range(14))

    def step(self, images, joints):
        camera, mesh = self.net(images.to(device))
        points = project(mesh, camera)[:, :, :2]
        shown = project(mesh, camera)[:, :, :2]
        loss = points[:, self.body].square().mean()  # expect: PLM070
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        # trap: nobody says that it is not an array by now
        return shown[:, self.body]


def fit(poses, loader):
    for images, joints in loader:
        poses.step(images, joints)


class Sliced(torch.nn.Module):
    def forward(self, x, begin, size):
        slices = [slice(first, first + count) for first, count in zip(begin, size)]
        out = torch.relu(x.cuda())
        # trap: a view, by slices
        part = out[slices]
        return part.sum()
