from torch import nn


class Foreteller(nn.Module):
    def forward(self, hidden, targets):
        total = 0
        for head, target in zip(self.heads, targets):
            loss = nn.functional.cross_entropy(head(hidden), target)
            # trap: one forward's, over its heads
            total = total + loss
            loss.backward(retain_graph=True)
        return total


def train(model, loader, optimizer):
    total = 0
    for hidden, targets in loader:
        loss = model(hidden.cuda(), targets)
        loss.backward()
        optimizer.step()
        total += loss  # expect: PLM001
    return total
