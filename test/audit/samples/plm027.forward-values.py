# What a forward takes out of its batch, or gets of others, and uses as a tensor is where the network is.
import torch
from torch import nn

from features import read_features


class Matcher(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.project = nn.Linear(width, width)

    def forward(self, batch):
        states = self.project(batch["states"])
        mask = batch["mask"]
        states = states.masked_fill(mask.unsqueeze(-1), 0.0)
        if mask.any():  # expect: PLM027
            states = states / 2
        spectrum = torch.fft.rfft(states, dim=1)
        if spectrum.abs().max() > 1e4:  # expect: PLM027
            spectrum = spectrum / 2
        told = read_features(batch["told"])
        if told.any():  # trap: nothing says that it is a tensor
            spectrum = spectrum * 2
        table = read_features(batch["path"])
        if table.max() > 1:  # trap: it is sent to the device afterwards
            table = table / 2
        rows = table.unsqueeze(0).to(states.device)
        return spectrum.abs().sum() + rows.sum()


def main(loader):
    network = Matcher(64).cuda()
    optimizer = torch.optim.AdamW(network.parameters())
    for batch in loader:
        loss = network(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
