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
        # trap: right after a read, nothing is queued
        count = (labels == 1).sum().item()
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


class Stats:
    # trap: tells, by its name
    def log_training_step(self, loss):
        print(loss.item())

    # trap: kept once
    def cache_step(self, data):
        return data["hidden_states"].detach().cpu()

    def train_step(self, model, logits, legal):
        if not legal.all():
            # trap: on no step that goes on
            bad = (~legal).sum().item()
            raise ValueError(f"{bad} of them")
        metrics = self.tracker.end_step(logits)
        if metrics is not None:
            # trap: now and then, as whoever tells it likes
            self.last = logits.max().item()
        # trap: random numbers of the host, against a rate
        mixed = (torch.rand(8) < self.mixer.init_prob).sum().item()
        return model(logits)[:mixed]


# trap: called by the example alone
def weighted_loss(logits, labels):
    loss = (logits - labels).pow(2).mean()
    print(loss.item())
    return loss


if __name__ == "__main__":
    weighted_loss(torch.ones(2), torch.ones(2)).backward()
