import torch


class Flow(torch.nn.Module):
    def __init__(self, model, normal=True):
        super().__init__()
        self.model = model
        self.normal = normal
        self.stratified = False

    def forward(self, x):
        if self.normal:
            if self.stratified:
                # trap: off, and nobody switches it on (a note)
                t = torch.rand((8,)).to(x.device)  # expect: PLM035
            else:
                t = torch.randn((8,)).to(x.device)  # expect: PLM035
        else:
            # trap: off unless asked for (a note)
            t = torch.rand((8,)).to(x.device)  # expect: PLM035
        return self.model(x, t)


class Remapped(torch.nn.Module):
    def __init__(self, remap=None):
        super().__init__()
        self.remap = remap

    def forward(self, x):
        if self.remap is not None:
            # trap: only with a table that nobody gives (a note)
            x = x + torch.rand((8,)).to(x.device)  # expect: PLM035
        return x
