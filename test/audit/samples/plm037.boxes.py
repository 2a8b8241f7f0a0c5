import torch
from torch.utils.data import DataLoader


class Padded:
    def __init__(self, tensors, mask):
        self.tensors = tensors
        self.mask = mask

    def to(self, device):
        return Padded(self.tensors.to(device), self.mask.to(device))


def collate(examples):
    samples, targets = zip(*examples)
    stacked = torch.stack(samples)
    return {"samples": Padded(stacked, torch.ones_like(stacked)), "targets": list(targets)}


def train(net, criterion, dataset, optimizer, device="cuda"):
    loader = DataLoader(dataset, batch_size=2, num_workers=4, pin_memory=True, collate_fn=collate)
    for batch in loader:
        # trap: a loader hands out what it cannot pin as it is
        samples = batch["samples"].to(device)
        targets = [{k: v.to(device) for k, v in t.items()} for t in batch["targets"]]  # expect: PLM037
        loss = criterion(net(samples), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
