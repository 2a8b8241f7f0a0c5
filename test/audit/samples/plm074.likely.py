import torch
from torch import nn

from mixtures import mixture_loss


class Head(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.out = nn.Linear(width, 30)

    def forward(self, hidden):
        return self.out(hidden)

    def nll(self, hidden, wanted):
        return mixture_loss(wanted, self.forward(hidden).double())  # expect: PLM074

    def log_prob(self, value):
        return -0.5 * value.double().square().sum(-1)  # expect: PLM074

    @torch.no_grad()
    def likelihood(self, hidden):
        # trap: judged without gradients, now and then
        return self.forward(hidden).double().mean()

    def drawn(self, hidden):
        # trap: for a picture
        return self.forward(hidden).double()


net = Head(8).cuda()


class Statistics:
    def update_target_stats(self, target):
        # trap: the host computes with it
        values = target.detach().to(device="cpu", dtype=torch.float64)
        for value in values:
            self.mean += (value - self.mean) / self.count


def training_step(statistics, batch):
    loss = net(batch.cuda()).mean()
    loss.backward()
    statistics.update_target_stats(loss)
