import torch


class Duel:
    def __init__(self, forger, judge, pictures):
        self.forger, self.judge = forger.cuda(), judge.cuda()
        self.pictures = pictures
        self.forger_optimizer = torch.optim.Adam(self.forger.parameters(), lr=1e-4)
        self.judge_optimizer = torch.optim.Adam(self.judge.parameters(), lr=1e-4)

    def clear(self):
        """Of both."""
        self.forger_optimizer.zero_grad()
        self.judge_optimizer.zero_grad()

    def fit(self):
        for turn, real in enumerate(self.pictures):
            forged = self.forger(torch.randn(16, 64, device="cuda"))
            found = self.judge(forged.detach()).mean() - self.judge(real.cuda()).mean()
            self.clear()
            found.backward()
            self.judge_optimizer.step()
            missed = -self.judge(forged).mean()
            self.clear()
            missed.backward()
            self.forger_optimizer.step()
            if (turn + 1) % 1000 == 0:
                self.show(turn)  # expect: PLM023

    def fit_and_clear(self):
        for turn, real in enumerate(self.pictures):
            found = self.judge(real.cuda()).mean()
            self.clear()
            found.backward()
            self.judge_optimizer.step()
            if (turn + 1) % 1000 == 0:
                self.clear()
                # trap: cleared before
                self.show(turn)

    def fit_then_clear(self):
        for turn, real in enumerate(self.pictures):
            found = self.judge(real.cuda()).mean()
            found.backward()
            self.judge_optimizer.step()
            self.clear()
            if (turn + 1) % 1000 == 0:
                # trap: cleared after the step
                self.show(turn)

    def show(self, turn):
        with torch.no_grad():
            for part in range(10):
                # trap: no evaluation of its own
                torch.save(self.forger(torch.randn(64, 64, device="cuda")).cpu(), f"{turn}-{part}.pt")
