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
