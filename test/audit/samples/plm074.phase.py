import torch


class Sine(torch.nn.Module):
    def forward(self, f0):
        # trap: a phase summed up over thousands of samples (a note)
        phase = torch.cumsum(f0.relu().cuda().double(), 1)  # expect: PLM074
        return torch.sin(phase).float()
