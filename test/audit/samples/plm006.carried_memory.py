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
                joined = torch.cat([memory[i][:, length:], h], dim=1)  # trap: who carries it cuts it off
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


def train(vocabulary, loader, optimizer):
    net = Remembering(vocabulary, 64, 4).cuda()
    memory = [torch.zeros(8, 512, 64, device="cuda") for _ in range(4)]
    for x, y in loader:
        out, memory = net(x.cuda(), [one.detach() for one in memory])
        optimizer.zero_grad()
        nn.functional.mse_loss(out, y.cuda()).backward()
        optimizer.step()
