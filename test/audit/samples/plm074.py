import torch
import torch.nn.functional as F

device = torch.device("cuda")


def train(model, loader, optimizer, dtype):
    for x, y in loader:
        target = torch.zeros(8, device=device)
        a = target.double()  # expect: PLM074
        b = target.to(torch.float64)  # expect: PLM074
        c = torch.softmax(target, dim=0, dtype=torch.float64)  # expect: PLM074
        # trap: single precision
        d = target.float()
        # trap: decided elsewhere
        e = target.to(dtype)
        # trap: on the host
        f = torch.zeros(8).double()
        loss = F.mse_loss(model(x.to(device)), target) + (a + b + c + d + e).sum() + f.sum().to(device)
        loss.backward()
        optimizer.step()
    # trap: once
    return target.double()
