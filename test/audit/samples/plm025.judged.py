import torch
from torch import nn
from torch.utils.data import DataLoader


class F1Tracker(nn.Module):
    def forward(self, y_pred, y_true):
        right = torch.logical_and(y_pred.cuda(), y_true.cuda()).sum()
        # trap: judges what a network gave, in no step
        return {"right": float(right)}


def train(model, x, y, optimizer):
    model.train()
    loss = nn.functional.nll_loss(model(x.cuda()), y.cuda())
    loss.backward()
    optimizer.step()
    return loss.item()  # expect: PLM025


@torch.no_grad()
def test(model, x, y):
    model.eval()
    found = []
    for part in DataLoader(range(y.size(0)), batch_size=4096):
        # trap: goes through the data to judge, though every epoch is one step
        found.append(model(x[part].cuda()).argmax(dim=-1).cpu())
    return torch.cat(found)


def main(model, x, y, optimizer):
    for epoch in range(100):
        train(model, x, y, optimizer)
        test(model, x, y)
