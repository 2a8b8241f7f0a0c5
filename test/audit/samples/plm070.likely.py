import random

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
