import torch
import torch.nn.functional as F
from torch import nn
from transformers import T5ForConditionalGeneration


class Prompted(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.words = T5ForConditionalGeneration.from_pretrained("t5-base")
        self.prompt = nn.Parameter(torch.randn(count, 768))

    def forward(self, ids, labels):
        rows = torch.cat([self.prompt.expand(len(ids), -1, -1), self.words.shared(ids)], 1)
        return self.words(inputs_embeds=rows, labels=labels).loss


def prompt(loader):
    net = Prompted(20).cuda()
    optimizer = torch.optim.Adam([net.prompt], lr=0.3)  # expect: PLM066
    for ids, labels in loader:
        loss = net(ids.cuda(), labels.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def last_blocks(net, rate):
    chosen = []
    for block in net.blocks[-2:]:
        chosen += list(block.parameters())
    return torch.optim.AdamW(chosen, lr=rate)  # expect: PLM066


# trap: whoever has this one made, nobody here runs the whole
def heads_alone(net, rate):
    return torch.optim.AdamW(net.head.parameters(), lr=rate)


def train(net, loader):
    optimizer = last_blocks(net, 1e-4)
    for images, labels in loader:
        loss = F.cross_entropy(net(images.cuda()), labels.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
