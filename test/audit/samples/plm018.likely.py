import torch


class Spread:
    """Running quantiles."""

    def __init__(self, device):
        self.range = torch.tensor([0.05, 0.95], device=device)
        self.last = torch.zeros(2, device=device)

    def __call__(self, returns, kept):
        flat = torch.flatten(returns)
        quantiles = torch.quantile(flat, self.range)
        kept[:] = 0.01 * quantiles + 0.99 * kept  # likely: PLM018
        clean = torch.quantile(flat.detach(), self.range)
        # trap: cut off before it is mixed in
        self.last = 0.01 * clean + 0.99 * self.last
        return kept[0].detach()


class Agent:
    def train(self, states, actions):
        values = self.critic(states, actions)
        loss = (values - self.target(states)).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.mean.mul_(0.99).add_(0.01 * values.abs().mean())  # likely: PLM018
        # trap: a number
        self.size = 0.99 * self.size + 0.01 * values.abs().mean().item()
        with torch.no_grad():
            # trap: nothing is recorded
            self.level.mul_(0.99).add_(0.01 * values.abs().mean())


class Density(torch.nn.Module):
    def __init__(self, threshold):
        super().__init__()
        self.threshold = threshold

    def update_threshold(self, delta):
        if self.threshold > 0.0:
            # trap: a setting that a schedule moves
            self.threshold -= delta

    def forward(self, x):
        return x.clamp(min=self.threshold).sum()
