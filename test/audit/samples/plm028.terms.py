import torch
from torch import nn


class SetCriterion(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.weights = weights
        self.terms = {"loss_size": self.loss_size, "loss_class": self.loss_class}

    def loss_size(self, outputs, targets):
        matched = targets["mask"] > 0
        return (outputs["sizes"][matched] - targets["sizes"][matched]).abs().sum()  # likely: PLM028

    def loss_class(self, outputs, targets):
        # trap: as many as before
        return outputs["logits"].masked_fill(targets["mask"] == 0, 0.0).sum()

    def accuracy(self, outputs, targets):
        # trap: no term of the loss
        return outputs["logits"][targets["mask"] > 0].mean()

    def forward(self, outputs, targets):
        loss = 0.0
        for name in self.terms:
            key = name + "_weight"
            if (key in self.weights and self.weights[key] > 0) or key not in self.weights:
                loss = loss + self.terms[name](outputs, targets)
        return loss


net = nn.Linear(2, 2).cuda()
criterion = SetCriterion({})
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    loss = criterion(net(x.cuda()), y)
    loss.backward()
    optimizer.step()
