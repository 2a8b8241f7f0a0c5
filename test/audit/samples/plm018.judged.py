import torch


class Judging:
    def __init__(self, judge):
        self.judge = judge
        self.score = 0.0

    def judge_loss(self, real, fake):
        ours, theirs = self.judge(real), self.judge(fake)
        self.score = 0.9 * self.score + 0.1 * ours.mean()  # expect: PLM018
        return torch.relu(1 - ours).mean() + torch.relu(1 + theirs).mean()


class Cut:
    def __init__(self, judge):
        self.judge = judge
        self.score = 0.0

    def judge_loss(self, real, fake):
        ours, theirs = self.judge(real), self.judge(fake)
        # trap: cut off before it is averaged
        self.score = 0.9 * self.score + 0.1 * ours.detach().mean()
        return torch.relu(1 - ours).mean() + torch.relu(1 + theirs).mean()


class Counted:
    def __init__(self, judge):
        self.judge = judge
        self.seen = 0

    def judge_loss(self, real, fake):
        ours, theirs = self.judge(real), self.judge(fake)
        # trap: a number of examples
        self.seen = self.seen + len(real)
        return torch.relu(1 - ours).mean() + torch.relu(1 + theirs).mean()
