import torch
from torch import nn


class Remembering(nn.Module):
    def __init__(self, vocabulary, width, depth):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(Layer(width) for _ in range(depth))

    def forward(self, x, memory):
        length = x.size(1)
        h = self.embed(x)
        following = []
        for i, layer in enumerate(self.layers):
            if length < 512:
                joined = torch.cat([memory[i][:, length:], h], dim=1)  # likely: PLM006
            else:
                joined = h[:, -512:]
            following.append(joined)
            h = layer(h, memory[i].detach())
        return h, following


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attend = nn.MultiheadAttention(width, 4, batch_first=True)

    def forward(self, h, memory):
        whole = torch.cat([memory, h], dim=1)
        return self.attend(h, whole, whole, need_weights=False)[0]


class Detached(Remembering):
    def forward(self, x, memory):
        length = x.size(1)
        h = self.embed(x)
        following = []
        for i, layer in enumerate(self.layers):
            # trap: cut off before it is handed back
            joined = torch.cat([memory[i][:, length:], h], dim=1).detach()
            following.append(joined)
            h = layer(h, memory[i])
        return h, following


class DetachedBelow(Remembering):
    def forward(self, x, memory):
        length = x.size(1)
        h = self.embed(x)
        following = []
        for i, layer in enumerate(self.layers):
            # trap: all of them are cut off in the end
            following.append(torch.cat([memory[i][:, length:], h], dim=1))
            h = layer(h, memory[i])
        return h, [one.detach() for one in following]


class Attending(Remembering):
    def forward(self, x, past):
        h = self.embed(x)
        present = []
        for i, layer in enumerate(self.layers):
            key = self.project(h)
            # trap: keys of generation, which records nothing
            key = torch.cat([past[i][:, -511:], key], dim=1)
            present.append(key)
            h = layer(h, key)
        return h, present


class Within(Remembering):
    def forward(self, x, memory):
        h = self.embed(x)
        # trap: it stays within this forward
        seen = torch.cat([memory[0][:, -8:], h], dim=1)
        return self.layers[0](h, seen)


def train(vocabulary, loader, optimizer):
    net = Remembering(vocabulary, 64, 4).cuda()
    memory = [torch.zeros(8, 512, 64, device="cuda") for _ in range(4)]
    for x, y in loader:
        memory = step(net, x.cuda(), y.cuda(), memory, optimizer)


def step(net, x, y, memory, optimizer):
    out, following = net(x, memory)
    optimizer.zero_grad()
    nn.functional.mse_loss(out, y).backward()
    optimizer.step()
    return following
