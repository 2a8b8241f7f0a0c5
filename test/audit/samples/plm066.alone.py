import torch
import torch.nn.functional as F


def tune(net, loader, device):
    chosen = [p for name, p in net.named_parameters() if "adapter" in name]  # likely: PLM066
    extra = 1e-4
    optimizer = torch.optim.AdamW([{"params": chosen, "lr": extra}])
    for x, y in loader:
        loss = F.cross_entropy(net(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
