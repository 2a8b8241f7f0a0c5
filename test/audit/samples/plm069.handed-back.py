import torch
from torch.utils.tensorboard import SummaryWriter

from targets import judged, wanted_values


class Agent:
    def __init__(self, net, optimizer):
        self.net = net.to("cuda")
        self.optimizer = optimizer
        self.writer = SummaryWriter()
        self.steps = 0

    def learn(self, batch):
        self.steps += 1
        loss, errors, back, count = self.judge(batch)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.writer.add_scalar("errors", errors.mean(), self.steps)  # expect: PLM069
        # trap: brought back where it is handed out
        self.writer.add_scalar("back", back.mean(), self.steps)
        # trap: who knows what it is
        self.writer.add_scalar("count", count, self.steps)

    def judge(self, batch):
        errors = wanted_values(batch) - self.net.values(batch)
        return judged(errors), errors.detach().abs(), errors.detach().cpu(), batch.count
