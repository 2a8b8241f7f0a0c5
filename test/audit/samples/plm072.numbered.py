import torch
from torch.utils.data import DataLoader


def train(net, pairs, options, optimizer, places):
    loader = DataLoader(pairs, batch_size=256, num_workers=8, pin_memory=True)
    for left, right in loader:
        both = torch.cat([left, right]).to(options.gpus[0])  # expect: PLM072
        # trap: moved first, joined there
        sent = torch.cat([left.to(options.gpus[0]), right.to(options.gpus[0])])
        # trap: of no device is anything said
        kept = torch.cat([left, right]).to(places[0])
        optimizer.zero_grad()
        net(both, sent, kept).mean().backward()
        optimizer.step()
