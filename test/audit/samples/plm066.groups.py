import torch
import torch.nn.functional as F


def decayed(net, loader, device):
    # trap: in two groups, and both learn
    plain = [p for name, p in net.named_parameters() if "bias" in name]
    rest = [p for name, p in net.named_parameters() if "bias" not in name]
    optimizer = torch.optim.AdamW([{"params": plain, "weight_decay": 0.0}, {"params": rest}])
    for x, y in loader:
        loss = F.cross_entropy(net(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def whole(net, loader, device):
    # trap: all of it
    optimizer = torch.optim.AdamW(net.module.parameters())
    for x, y in loader:
        loss = F.cross_entropy(net(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
