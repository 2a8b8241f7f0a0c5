import torch
import torch.nn as nn


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, 8)
        self.head = nn.Linear(8, 2)

    def forward(self, obs, state=None):
        out, state = self.lstm(obs, state)
        return self.head(out), state


class Agent:
    def __init__(self):
        self.actor = Actor()
        self.optimizer = torch.optim.Adam(self.actor.parameters())
        self.hidden = None
        self.kept_state = None
        self.read_state = None
        self.still_state = None

    def reset(self):
        self.hidden = None

    def act(self, obs):
        action, self.hidden = self.actor(obs, self.hidden)  # expect: PLM006
        return action.detach().cpu().numpy()

    def act_below(self, obs):
        logits, hidden = self.actor(obs, self.below_state)  # expect: PLM006
        self.below_state = hidden
        return logits[0].detach().argmax(-1)

    def act_and_learn(self, obs):
        # trap: what came back is differentiated at the end of an episode
        action, self.kept_state = self.actor(obs, self.kept_state)
        self.saved.append(action)
        return action.detach()

    def act_and_read(self, obs):
        # trap: the state itself is learnt from
        action, self.read_state = self.actor(obs, self.read_state)
        return action.detach()

    @torch.no_grad()
    def act_still(self, obs):
        # trap: nothing is recorded
        action, self.still_state = self.actor(obs, self.still_state)
        return action.detach()

    def learn(self, obs, goal):
        out, _ = self.actor(obs)
        loss = (out - goal).pow(2).mean() + self.read_state[0].mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
