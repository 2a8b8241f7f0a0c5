import torch
from torch import nn


class Asked(nn.Module):
    def __init__(self, width, weight=0.5):
        super().__init__()
        self.weight = weight
        self.inner = nn.Linear(width, width)

    def forward(self, x, return_loss=False, return_parts=False):
        x = self.inner(x)
        if not return_loss:
            # trap: in training somebody asks for the loss
            return x * torch.tensor([2.0, 1.0], device=x.device)
        losses = torch.stack((x.mean(), x.square().mean()))
        loss = (losses * torch.tensor([1.0, self.weight], device=x.device)).sum()  # expect: PLM033
        if not return_parts:
            return loss
        # trap: off unless somebody asks for it
        return loss, losses * torch.tensor([1.0, 0.0], device=x.device)


def fit(loader):
    network = Asked(8).cuda()
    optimizer = torch.optim.AdamW(network.parameters())
    for x in loader:
        loss = network(x.cuda(), return_loss=True)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
