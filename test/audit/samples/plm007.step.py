import torch
from torch.nn import functional as F


class Learner:
    def __init__(self, world, policy, device):
        self.world = world.to(device)
        self.policy = policy.to(device)
        self.optim_world = torch.optim.Adam(self.world.parameters(), lr=3e-4)
        self.optim_policy = torch.optim.Adam(self.policy.parameters(), lr=3e-4)
        self.keeps = True
        self.asked = False
        self.drawn = None

    def fit(self, replay):
        frames = replay.draw(32)
        divergence, drawing = self.world.objective(frames)
        self.optim_world.zero_grad()
        (divergence + drawing).backward(retain_graph=True)  # expect: PLM007
        self.optim_world.step()

    def fit_as_told(self, frames):
        loss = F.mse_loss(self.world(frames), frames)
        self.optim_world.zero_grad()
        loss.backward(retain_graph=self.keeps)  # expect: PLM007
        self.optim_world.step()

    def ask(self):
        self.asked = True

    def fit_as_asked(self, frames):
        loss = F.mse_loss(self.world(frames), frames)
        self.optim_world.zero_grad()
        # trap: another method may set it, or not
        loss.backward(retain_graph=self.asked)
        self.optim_world.step()

    def dream(self, frames):
        self.drawn = self.policy(frames)

    def judge(self, wanted):
        loss_a, loss_b = self.world.compare(self.drawn, wanted)
        self.optim_world.zero_grad()
        # trap: what another method drew, a third one goes back through
        (loss_a + loss_b).backward(retain_graph=True)
        self.optim_world.step()

    def imitate(self, wanted):
        loss_a, loss_b = self.world.score(self.drawn, wanted)
        self.optim_policy.zero_grad()
        (loss_a + loss_b).backward()
        self.optim_policy.step()
