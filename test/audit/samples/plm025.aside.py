import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F


class Search(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net.cuda()

    @torch.no_grad()
    def forward(self, x):
        # trap: it generates, and no step calls it
        return self.net(x.cuda()).argmax(-1).tolist()


class Bounded(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.embed = nn.Embedding(n, 8).cuda()
        self.n = n

    def forward(self, index):
        out = self.embed(index.cuda())
        if not self.training and self.n:
            return out
        in_bounds = self.n > 0
        if not in_bounds:
            # trap: what is wrong now and then
            warnings.warn(f"out of bounds: {out.max().item()}")
        if self.n < 0:
            # trap: what is said when it fails
            raise ValueError(out.max().item())
        return out


class Routed(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net.cuda()

    def forward(self, x):
        is_training = self.training
        scores = self.net(x.cuda())
        return self.balanced(scores) if is_training else self.greedy(scores)

    def balanced(self, scores):
        return scores.sum().item()  # expect: PLM025

    def greedy(self, scores):
        # trap: the branch of evaluation
        return scores.argmax(-1).tolist()


def choose_action(net, obs):
    return net(obs.cuda()).argmax(-1).item()


def play(net, envs, optimizer, total):
    obs = envs.reset()
    for _ in range(total):
        q = net(torch.as_tensor(obs).cuda())
        # trap: the environment is on the host
        actions = q.argmax(1).cpu().numpy()
        obs, target = envs.step(actions)
        # trap: the same, in one line
        envs.step(q.argmax(1).tolist())
        # trap: by its name
        choose_action(net, torch.as_tensor(obs))
        loss = F.mse_loss(q, target.cuda())
        loss.backward()
        optimizer.step()
        print(loss.item())  # expect: PLM025


def test_kernel(layer, size):
    x = torch.randn(size, device="cuda", requires_grad=True)
    y = layer(x)
    y.sum().backward()
    # trap: a test of the code
    assert x.grad.abs().max().item() < 1


def test_all(layer):
    for size in (512, 1024):
        test_kernel(layer, size)


def smoke(net, optimizer):
    steps = 10
    for step in range(steps):
        loss = net(torch.randn(4, device="cuda")).sum()
        loss.backward()
        optimizer.step()
        # trap: ten turns are no training
        print(step, loss.item())
