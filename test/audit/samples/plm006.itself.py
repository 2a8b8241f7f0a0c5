import torch
import torch.nn as nn
import torch.nn.functional as F


class Slots(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.mix = nn.Linear(2 * width, width)
        self.head = nn.Linear(width, 10)

    def begin(self, batch):
        return torch.zeros(batch, self.mix.out_features)

    def forward(self, x, memory, y):
        memory = memory.detach()
        memory = torch.tanh(self.mix(torch.cat([x, memory], dim=-1)))
        return F.cross_entropy(self.head(memory), y), memory


class Attached(Slots):
    def forward(self, x, memory, y):
        memory = torch.tanh(self.mix(torch.cat([x, memory], dim=-1)))
        return F.cross_entropy(self.head(memory), y), memory


def train(loader, width):
    slots = Slots(width)
    slots = nn.DataParallel(slots)
    optimizer = torch.optim.SGD(slots.parameters(), lr=0.1)
    memory = slots.module.begin(32)
    for x, y in loader:
        # trap: its forward begins with what came before cut off
        loss, memory = slots(x, memory, y)
        loss.mean().backward(retain_graph=True)
        optimizer.step()
        optimizer.zero_grad()


def train_attached(loader, width):
    slots = Attached(width)
    slots = nn.DataParallel(slots)
    optimizer = torch.optim.SGD(slots.parameters(), lr=0.1)
    memory = slots.module.begin(32)
    for x, y in loader:
        loss, memory = slots(x, memory, y)  # expect: PLM006
        loss.mean().backward(retain_graph=True)
        optimizer.step()
        optimizer.zero_grad()
