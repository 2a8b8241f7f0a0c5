"""Masks of which only what is computed with them tells where they are."""

import torch


class Learner:
    def __init__(self, speaker, critic, optimizer):
        self.speaker = speaker
        self.critic = critic.cuda()
        self.optimizer = optimizer

    def worth(self, gone, ids):
        keep, gains, counts = gone["keep"], gone["gains"], gone["counts"]
        guessed = self.critic(ids) * keep
        found = []
        for t in range(keep.sum(dim=1).max()):  # expect: PLM068
            found.append(gains[:, t])
        for t in range(torch.max(keep.sum(dim=1))):  # expect: PLM068
            found.append(gains[:, t])
        # trap: nothing says where the counts are, as those of packed sequences are on the host
        for t in range(counts.max()):
            found.append(gains[:, t])
        return (guessed - torch.stack(found, dim=1)).square().mean()

    def train(self, memory):
        for ids in memory:
            gone = {**self.speaker.talk(ids), **self.speaker.judge(ids)}
            self.optimizer.zero_grad()
            loss = self.worth(gone, ids)
            loss.backward()
            self.optimizer.step()
