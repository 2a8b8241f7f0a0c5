import torch
import torch.nn as nn


class Gate(nn.Module):
    def __init__(self, seen):
        super().__init__()
        self.gate = nn.Linear(8, 8)
        self.seen = seen

    def forward(self, hidden, labels):
        weights = self.gate(hidden).softmax(-1)
        self.seen.append(weights.detach().cpu())  # likely: PLM025
        count = (labels == 1).sum().item()  # likely: PLM025
        # trap: it goes on with it there
        weights = weights.cpu() * count
        return weights


class Accuracy:
    # trap: it judges
    def forward(self, outputs, labels):
        return (outputs == labels).sum().item()


def fit(net, loader, criterion, optimizer, history, names):
    net.cuda()
    for images, labels, names in loader:
        images, labels = images.cuda(), labels.cuda()

        def closure():
            optimizer.zero_grad()
            loss = criterion(net(images), labels)
            loss.backward()
            history.append(loss.item())  # likely: PLM025
            return loss

        optimizer.step(closure)
        # trap: never sent to the device
        kept = names.max().item()
        try:
            history.append(kept)
        except RuntimeError:
            # trap: of what went wrong
            history.append(labels.max().item())
