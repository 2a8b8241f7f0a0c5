import torch
from torch import nn


class Composer(nn.Module):
    def __init__(self, encoder, head):
        super().__init__()
        self.encoder = encoder
        self.head = head

    def forward(self, batch):
        images = batch["images"]
        most = batch["count"].max().clamp(min=1)
        images = images[:, :most]  # expect: PLM068
        # trap: lengths, which the packing wants on the host
        longest = batch["lengths"].max()
        texts = batch["texts"][:, :longest]
        # trap: a size is a number
        half = images.shape[1] // 2
        return self.head(self.encoder(images[:, :half]), texts)


def train(net, loader, optimizer):
    net = net.cuda()
    for tokens, mask in loader:
        tokens, mask = tokens.cuda(), mask.cuda()
        used = mask.sum(-1).max().clamp(min=1)
        loss = net(tokens[:, :used]).mean()  # expect: PLM068
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return torch.cuda.max_memory_allocated()
