from typing import Dict, List

import torch
import torch.nn as nn
import torch.nn.functional as F


class Boxes(nn.Module):
    def __init__(self, background):
        super().__init__()
        self.background = background

    def forward(self, guessed: torch.Tensor, wanted: List[Dict[str, torch.Tensor]]) -> torch.Tensor:
        kinds = torch.cat([one["kind"] for one in wanted])
        real = kinds != self.background
        count = max(real.sum(), 1)  # expect: PLM027
        # trap: a number already
        total = max(len(wanted), 1)
        # trap: read on the host, once
        rows = max(real.shape[0], 1)
        # trap: made on the host
        most = max(torch.tensor([1.0, 2.0]).sum(), 1)
        return F.l1_loss(guessed, kinds.float()) / count / total / rows / most


def count_all(wanted: List[Dict[str, torch.Tensor]]) -> int:
    # trap: who calls this, and where the tensors are, nobody knows
    return max(torch.cat([one["kind"] for one in wanted]).sum(), 1)


def train(model, loader, optimizer):
    criterion = Boxes(0).cuda()
    model.cuda()
    for x, wanted in loader:
        loss = criterion(model(x.cuda()), wanted)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
