import torch
import torch.nn.functional as F


class Average:
    def __init__(self):
        self.sum = 0

    def add(self, v):
        v = v.data.sum()
        self.sum += v


class Engine:
    def train_step(self, batches):
        results = []
        for batch in batches:
            loss = self.model(batch).loss
            # trap: the micro-batches of one step
            results.append(loss)
            loss.backward()
        return results


def train(model, loader, optimizer):
    mean = Average()
    kept = []
    for x, y in loader:
        loss = F.cross_entropy(model(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        # trap: takes the numbers only
        mean.add(loss)
        kept.append(loss)  # expect: PLM002
    return mean, kept
