import torch
import torch.nn as nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor, self.critic = nn.Linear(8, 4), nn.Linear(8, 1)

    def evaluate(self, states, actions):
        chosen = torch.distributions.Categorical(logits=self.actor(states))
        return chosen.log_prob(actions), self.critic(states), chosen.entropy()


class PPO:
    def __init__(self):
        self.policy = Policy().cuda()
        self.old = Policy().cuda()
        self.optimizer = torch.optim.Adam(self.policy.parameters())
        self.mse = nn.MSELoss()

    def update(self, states, actions, rewards, before):
        for _ in range(4):
            log_probs, values, entropy = self.policy.evaluate(states, actions)
            ratio = torch.exp(log_probs - before)
            loss = -ratio * rewards + 0.5 * self.mse(values, rewards) - 0.01 * entropy
            # It goes above the run, not above what judges it.
            self.optimizer.zero_grad()  # expect: PLM022
            loss.mean().backward()
            self.optimizer.step()

    def follow(self, states, actions):
        for _ in range(4):
            # trap: before the forward
            self.optimizer.zero_grad()
            log_probs, _, _ = self.policy.evaluate(states, actions)
            log_probs.mean().backward()
            self.optimizer.step()

    def refer(self, states, actions):
        for _ in range(4):
            # trap: before the forward, though another copies its weights
            self.optimizer.zero_grad()
            self.old.load_state_dict(self.policy.state_dict())
            self.policy.evaluate(states, actions)[0].mean().backward()
            self.optimizer.step()
