"""A belief that each observation of an environment carries on."""

import torch
from torch import nn


class World(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embed = nn.Linear(64, width)
        self.cell = nn.GRUCell(width, width)
        self.head = nn.Linear(2 * width, width)
        self.belief = None
        self.latent = None

    def transition(self, obs, latent, belief):
        belief = self.cell(self.embed(obs), belief)
        return None, self.head(torch.cat([belief, latent], -1)), belief

    def observe(self, obs):
        obs = obs.unsqueeze(0)
        if self.belief is None:
            latent, belief = torch.zeros(1, 8), torch.zeros(1, 8)
        else:
            latent = self.latent
            belief = self.belief
        *_, latent_sample, next_belief = self.transition(obs, latent, belief)
        self.latent = latent_sample  # likely: PLM006
        self.belief = next_belief
        return {"latent": self.latent, "belief": self.belief}

    def forget(self):
        self.belief = None
        self.latent = None


class Player:
    def __init__(self, net: nn.Module, device):
        self.net = net.to(device)
        self.device = device
        self.trace = None

    def begin(self):
        self.trace = None

    def choose(self, observation):
        x = torch.from_numpy(observation).to(self.device)
        out = self.net(x[None], self.trace)
        self.trace = out["trace"]  # likely: PLM006
        return out["scores"].argmax(-1).item()


class Filter(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.cell = nn.GRUCell(64, width)
        self.prior = torch.zeros(1, width)

    def track(self, frame):
        self.prior = self.cell(torch.as_tensor(frame)[None], self.prior)  # expect: PLM006
        return self.prior.norm().item()


class Quiet(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.cell = nn.GRUCell(64, width)
        self.side = nn.GRUCell(64, width)
        self.past_belief = torch.zeros(1, width)
        self.kept = torch.zeros(1, width)
        self.rolled = torch.zeros(1, width)

    def track(self, obs):
        # trap: nothing is recorded
        with torch.no_grad():
            self.kept = self.cell(obs.unsqueeze(0), self.kept)
        return self.kept

    @torch.inference_mode()
    def follow(self, obs):
        # trap: nor here
        self.past_belief = self.cell(obs.unsqueeze(0), self.past_belief)
        return self.past_belief

    def roll(self, obs):
        # trap: cut off from the observation before
        rolled = self.side(obs.unsqueeze(0), self.rolled)
        self.rolled = rolled.detach()
        return rolled


class Read(nn.Module):
    def __init__(self, net: nn.Module, width):
        super().__init__()
        self.net = net
        self.state_of = torch.zeros(8, width)

    def read(self, chunks):
        # trap: whole batches, whose caller may differentiate all of them at once
        self.state_of = self.net(chunks, self.state_of)
        return self.state_of


def train(world, batches, optimizer):
    for obs, latent, belief in batches:
        _, found, _ = world.transition(obs, latent, belief)
        loss = found.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
