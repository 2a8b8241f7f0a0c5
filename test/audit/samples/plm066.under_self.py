import torch
from torch import nn


class Pair:
    def __init__(self, made, judge, device):
        self.made, self.judge = made.to(device), judge.to(device)
        self.of_made = torch.optim.Adam(made.parameters(), fused=True)
        self.of_judge = torch.optim.Adam(judge.parameters(), fused=True)

    def fit(self, loader):
        for x in loader:
            x = x.cuda()
            fake = self.made(torch.randn_like(x))  # expect: PLM066
            loss = self.judge(fake).mean() - self.judge(x).mean()
            self.of_judge.zero_grad()
            loss.backward()
            self.of_judge.step()
            loss = -self.judge(self.made(torch.randn_like(x))).mean()  # expect: PLM066
            self.of_made.zero_grad()
            loss.backward()
            self.of_made.step()


class Detached:
    def __init__(self, made, judge, device):
        self.made = made.to(device)
        self.judge = judge.to(device)
        self.of_made = torch.optim.Adam(made.parameters(), fused=True)
        self.of_judge = torch.optim.Adam(judge.parameters(), fused=True)

    def fit(self, loader):
        for x in loader:
            x = x.cuda()
            # trap: cut off
            fake = self.made(torch.randn_like(x)).detach()
            loss = self.judge(fake).mean() - self.judge(x).mean()
            self.of_judge.zero_grad()
            loss.backward()
            self.of_judge.step()
            # trap: switched off for this part
            self.judge.requires_grad_(False)
            loss = -self.judge(self.made(torch.randn_like(x))).mean()
            self.of_made.zero_grad()
            loss.backward()
            self.of_made.step()
            self.judge.requires_grad_(True)


if __name__ == "__main__":
    for kind in (Pair, Detached):
        kind(nn.Linear(8, 8), nn.Linear(8, 1), "cuda").fit(torch.randn(4, 2, 8))
