import torch
from torch import nn


class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(64, 8)
        self.decode = nn.Linear(8, 64)

    def forward(self, images):
        codes = self.encode(images)
        made = self.decode(codes)
        loss = nn.functional.mse_loss(made, images)
        return made, loss, 0, codes.pow(2).mean()


class Quantizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(512, 64))

    def forward(self, x):
        index = (x[:, None] - self.table).norm(dim=2).argmin(dim=1)
        if True:
            share = index.float().cpu().histc(bins=512) / len(index)
            entropy = -(share * share.log()).sum().item()
        else:
            entropy = 0
        return x + self.table[index], index.float().mean(), entropy


class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.quantize = Quantizer()
        self.decode = nn.Linear(64, 64)

    def forward(self, x):
        found, penalty, entropy = self.quantize(x)
        return self.decode(found), found.pow(2).mean(), found, penalty, entropy


def train_whole(net, loader):
    net = net.cuda()
    optimizer = torch.optim.AdamW(net.parameters())
    entropy_sum = size_sum = 0
    for images in loader:
        made, size, found, penalty, entropy = net(images.cuda())
        loss = made.mean() + size + penalty
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        entropy_sum += entropy  # trap: the network's part has read it
        size_sum += size  # expect: PLM001
    print(entropy_sum, size_sum)


def train(coder, loader):
    coder = coder.cuda()
    optimizer = torch.optim.AdamW(coder.parameters())
    perplexity_sum = size_sum = 0
    for images in loader:
        made, loss, perplexity, size = coder(images.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        perplexity_sum += perplexity  # trap: the forward hands back a number there
        size_sum += size  # expect: PLM001
    print(perplexity_sum, size_sum)
