import torch
from torch import nn


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Linear(8, 4)
        self.critic = nn.Linear(8, 1)

    def worth(self, view):
        return self.critic(view)

    def quiet(self, view):
        return self.critic(view).detach()


class Learner:
    def __init__(self, device):
        self.agent = Agent().to(device)
        self.optimizer = torch.optim.Adam(self.agent.parameters())

    def learn(self, records, views, gains):
        for _ in range(4):
            loss = (self.agent.worth(views) - gains).square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


def play(device, env, view, rounds):
    agent = Agent().to(device)
    records = []
    for _ in range(rounds):
        worth = agent.worth(view)
        # trap: what is drawn has no graph
        action = agent.actor(view).argmax(-1)
        records.append((view, worth))  # expect: PLM017
        view, reward, over, _ = env.step(action.cpu().numpy())
    return records


def play_quietly(device, env, view, rounds):
    agent = Agent().to(device)
    records = []
    with torch.no_grad():
        for _ in range(rounds):
            worth = agent.worth(view)
            # trap: without gradients
            records.append((view, worth))
            view, reward, over, _ = env.step(0)
    others = []
    for _ in range(rounds):
        worth = agent.quiet(view)
        # trap: its method cuts it off
        others.append((view, worth))
        view, reward, over, _ = env.step(1)
    return records, others


def learn_from_one(env, view, games, device):
    agent = Agent().to(device)
    optimizer = torch.optim.Adam(agent.parameters())
    for _ in range(games):
        worths, gains = [], []
        for _ in range(100):
            worth = agent.worth(view)
            # trap: the loss of this game goes through it
            worths.append(worth)
            view, reward, over, _ = env.step(0)
            gains.append(reward)
        loss = (torch.stack(worths) - torch.tensor(gains)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Rows:
    def __init__(self, envs, device):
        self.agent = Agent().to(device)
        self.envs = envs
        self.worths = torch.zeros(128, 8, device=device)
        self.fresh = torch.zeros(128, 8, device=device)
        self.cut = torch.zeros(128, 8, device=device)

    def collect(self, view):
        self.fresh = torch.zeros(128, 8, device=view.device)
        for turn in range(128):
            worth = self.agent.critic(view)
            self.worths[turn] = worth  # expect: PLM017
            # trap: begun anew in each game
            self.fresh[turn] = worth
            # trap: cut off
            self.cut[turn] = worth.detach()
            view, reward, over, _ = self.envs.step(0)


class Filler:
    def __init__(self, buffer, agent, device):
        self.buffer = buffer
        self.agent = Agent().to(device)

    def sample_training_data(self, views):
        for turn, view in enumerate(views):
            worth = self.agent.critic(view)
            self.buffer.worths[:, turn] = worth  # expect: PLM017
            # trap: numbers
            self.buffer.shown[:, turn] = worth.item()
