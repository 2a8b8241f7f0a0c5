import torch
import torch.nn as nn


class Penalised(nn.Module):
    def penalty(self):
        total = 0.0
        count = 0
        for module in self.modules():
            if isinstance(module, nn.Linear):
                loss = torch.mean((module.weight - 1.0) ** 2)
                total += loss  # expect: PLM034
                count += 1
        return total / count

    def count(self):
        total = 0
        for p in self.parameters():
            # trap: no kernel
            total += p.numel()
        return total

    def measure(self):
        total = 0.0
        for p in self.parameters():
            # trap: a number for a person
            total += p.norm().item()
        return total

    @torch.no_grad()
    def report(self):
        total = 0.0
        for p in self.parameters():
            # trap: no gradient, once in a while
            total += p.norm()
        return total


def over_batches(model, loader):
    total = 0.0
    for x in loader:
        # trap: no loop over modules
        total += torch.mean(model(x))
    return total


class Agent:
    def __init__(self, actor, critic, encoder):
        self.actor, self.critic, self.encoder = actor, critic, encoder
        self.trained = list(actor.parameters()) + list(critic.parameters()) + list(encoder.parameters())
        self.mixed = [*actor.parameters(), *critic.parameters()]
        self.mixed += [torch.zeros(3)]
        self.scores = [3.0] + [4.0]
        self.optimizer = torch.optim.Adam(self.trained)

    def update(self, loader):
        for x in loader:
            self.critic(self.encoder(x)).mean().backward()
            norm = torch.zeros((), device="cuda")
            for p in self.trained:
                norm += p.grad.pow(2).sum()  # expect: PLM034
            for p in self.mixed:
                # trap: not only parameters
                norm += p.pow(2).sum()
            for score in self.scores:
                # trap: numbers
                norm += torch.tensor(score).pow(2).sum()
            self.optimizer.step()
            print(norm)


class Residual(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.layers = []
        for _ in range(depth):
            self.layers.append(nn.Linear(8, 8))
            self.layers = nn.ModuleList(self.layers)

    def forward(self, x):
        for layer in self.layers:
            y = layer(x)
            y = torch.relu(y)
            # trap: the layers are the work
            y = y + torch.relu(x)
            x = y
        return x


def train_mended(net, loader, optimizer):
    net.cuda()
    for name, p in net.named_parameters():
        # trap: once, and no kernel
        p.requires_grad_("head" in name)
    for x, y in loader:
        nn.functional.mse_loss(net(x.cuda()), y.cuda()).backward()
        for name, p in net.named_parameters():
            if p.grad is not None:
                p.grad.nan_to_num_(0.0)  # expect: PLM034
        for p in net.parameters():
            if p.grad is not None:
                torch.nan_to_num(p.grad, nan=0.0, out=p.grad)  # expect: PLM034
        for p in net.parameters():
            # trap: it computes nothing
            p.requires_grad_(True)
        optimizer.step()
        optimizer.zero_grad()
