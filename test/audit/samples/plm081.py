import torch
import torch.nn as nn


class Net(nn.Module):
    def forward(self, x, y):
        a = torch.cat([x, y]).clone()  # expect: PLM081
        # trap: a view, of which a copy may be wanted
        b = torch.transpose(x, 0, 1).clone()
        # trap: somebody else's tensor
        c = x.clone()
        # trap: may return its argument
        d = torch.dropout(x, 0.0, False).clone()
        return a + b + c + d


def once(x):
    # trap: not in a step
    return torch.exp(x).clone()
