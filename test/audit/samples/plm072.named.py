import torch
from torch.utils.data import DataLoader


def train(net, data, optimizer, kind, rank):
    loader = DataLoader(data, batch_size=8, num_workers=4, pin_memory=True)
    place = f"{kind}:{rank}"
    for images, views in loader:
        both = torch.cat([images, views]).to(place, non_blocking=True)  # expect: PLM072
        # trap: moved first, and joined there
        again = torch.cat([images.to(place, non_blocking=True), views.to(place, non_blocking=True)])
        # trap: it stays where it is
        kept = torch.cat([images, views]).to("cpu", non_blocking=True)
        # trap: cast, and sent nowhere that is known
        wide = torch.cat([images, views]).to(place)
        loss = net(both, again, kept.mean(), wide.mean()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
