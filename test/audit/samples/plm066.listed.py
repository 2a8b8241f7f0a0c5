import torch
import torch.nn.functional as F


def tune(net, loader, device):
    listed = list(net.neck.parameters()) + list(net.head.parameters())
    optimizer = torch.optim.AdamW(listed, lr=1e-4)  # expect: PLM066
    for x, y in loader:
        loss = F.cross_entropy(net(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
