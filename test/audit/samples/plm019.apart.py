import torch
from torch.nn import functional as F


def run(model, frozen, loader, valid_loader, test_loader, optimizer, every):
    for parameter in frozen.parameters():
        parameter.requires_grad_(False)
    for step, (x, y) in enumerate(loader):
        loss = F.mse_loss(model(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % every == 0:
            total = 0.0
            for x, y in valid_loader:
                total += F.mse_loss(model(x.cuda()), y.cuda()).item()  # expect: PLM019
            print(total)
            total = 0.0
            for x, y in valid_loader:
                with torch.no_grad():
                    # trap: nothing is recorded
                    total += F.mse_loss(model(x.cuda()), y.cuda()).item()
            for x, y in test_loader:
                # trap: frozen, it records nothing
                total += F.mse_loss(frozen(x.cuda()), y.cuda()).item()
            print(total)


def adapt(model, test_loader, optimizer):
    for x, y in test_loader:
        # trap: it learns while it is tested
        loss = F.mse_loss(model(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())
