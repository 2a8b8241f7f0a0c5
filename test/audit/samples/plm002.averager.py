import torch  # noqa: F401
import utils


def train(model, loader, optimizer, criterion, device):
    loss_avg = utils.averager()
    kept = set()
    for x, y in loader:
        loss = criterion(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        # trap: whatever it adds it to, no list has an `add`
        loss_avg.add(loss)
        kept.add(loss)  # expect: PLM002
    return loss_avg, kept
