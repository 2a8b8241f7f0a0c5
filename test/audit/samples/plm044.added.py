import torch
from torch import nn

from tools import add_rel_pos_bias, sharpen


class Looking(nn.Module):
    def forward(self, q, k, v, mask):
        scores = add_rel_pos_bias(q @ k.transpose(-2, -1), q, mask)
        near = scores.softmax(dim=-1) @ v  # expect: PLM044
        # trap: who knows what comes back
        far = sharpen(q @ k.transpose(-2, -1)).softmax(dim=-1) @ v
        return near + far


def train(loader, optimizer):
    net = Looking().cuda()
    for q, mask in loader:
        loss = net(q.cuda(), q.cuda(), q.cuda(), mask.cuda()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
