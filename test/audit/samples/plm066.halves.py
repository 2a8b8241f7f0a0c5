import torch
import torch.nn.functional as F


def train(net, loader):
    # trap: what one of the groups leaves out, the other has
    plain = [weight for name, weight in net.named_parameters() if "bias" in name]
    decayed = [weight for name, weight in net.named_parameters() if "bias" not in name]
    optimizer = torch.optim.SGD(
        [{"params": plain, "weight_decay": 0.0}, {"params": decayed, "weight_decay": 0.1}], lr=0.1
    )
    for x, y in loader:
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
