import random

import numpy as np
import torch

net = torch.nn.Linear(8, 8).cuda()


def train_step(features, labels, optimizer, kept):
    chosen = random.sample(range(64), 16)
    scores = torch.softmax(features, dim=-1)
    picked = scores[chosen]  # likely: PLM070
    # trap: a number each
    first = scores[chosen[0]]
    # trap: on the host until then
    held = kept[chosen].to("cuda")
    loss = (picked.mean() + first.mean() + held.mean()) * labels.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


class Targets:
    def __call__(self, boxes, others, labels, overlap):
        boxes = np.concatenate((boxes, others), axis=0)
        shared = overlap(boxes, others)
        best = shared.argmax(axis=1)
        most = shared.max(axis=1)
        rows = np.append(np.where(most > 0)[0], np.where(most < 0)[0])
        # trap: arrays of NumPy
        return boxes[rows], best[rows]

    def training_step(self, batch):
        return self(*batch)


def mixed(rows: torch.Tensor, order: np.ndarray):
    return rows + rows[order]  # likely: PLM070


def turned(rows: torch.Tensor, order: torch.Tensor):
    # trap: a tensor by what it is called to be
    return rows + rows[order]


def train_mixed(net, loader, optimizer, mix, order):
    for rows, wanted in loader:
        rows, wanted = rows.cuda(), wanted.cuda()
        if mix:
            rows = mixed(rows, torch.randperm(len(rows), device=rows.device))
        else:
            rows = mixed(rows, np.random.permutation(len(rows)))
        loss = (net(turned(rows, order)) - wanted).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Delayed:
    def update(self, states, actions):
        loss = self.critic(states.cuda(), actions.cuda()).mean()
        self.critic_optimizer.zero_grad()
        loss.backward()
        self.critic_optimizer.step()
        values = self.critic(states.cuda(), actions.cuda())
        if self.steps % self.policy_freq == 0:
            half = np.random.choice(len(values), len(values) // 2, replace=False)
            actor_loss = -values[half].mean()  # likely: PLM070
            self.actor_optimizer.zero_grad()
            actor_loss.backward()
            self.actor_optimizer.step()
        if self.steps % self.log_freq == 0:
            # trap: now and then, for a look
            some = np.random.choice(len(values), 4, replace=False)
            print(values[some])
