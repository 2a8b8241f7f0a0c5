import torch
import torch.nn as nn


class Penalised(nn.Module):
    def penalty(self):
        total = 0.0
        count = 0
        for module in self.modules():
            if isinstance(module, nn.Linear):
                loss = torch.mean((module.weight - 1.0) ** 2)
                total += loss  # expect: PLM034
                count += 1
        return total / count

    def count(self):
        total = 0
        for p in self.parameters():
            # trap: no kernel
            total += p.numel()
        return total

    def measure(self):
        total = 0.0
        for p in self.parameters():
            # trap: a number for a person
            total += p.norm().item()
        return total

    @torch.no_grad()
    def report(self):
        total = 0.0
        for p in self.parameters():
            # trap: no gradient, once in a while
            total += p.norm()
        return total


def over_batches(model, loader):
    total = 0.0
    for x in loader:
        # trap: no loop over modules
        total += torch.mean(model(x))
    return total
