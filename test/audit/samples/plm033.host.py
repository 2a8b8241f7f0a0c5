import torch
import torch.nn.functional as F


def sinc(t):
    # trap: on the host, as all who call it give it
    return torch.where(t == 0, torch.tensor(1.0, device=t.device), torch.sin(t) / t)


class Upsample(torch.nn.Module):
    def forward(self, x):
        t = torch.linspace(-1.0, 1.0, 12)
        scale = torch.tensor(2.0, device=x.device)  # expect: PLM033
        return F.conv1d(x, sinc(t).to(x)) * scale
