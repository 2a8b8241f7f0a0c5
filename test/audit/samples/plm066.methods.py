"""Networks that are run by their methods."""

import torch
import torch.nn.functional as F


class Agent:
    def __init__(self, policy, old_policy, target_policy):
        self.policy = policy
        self.old_policy = old_policy
        self.target_policy = target_policy
        self.optimizer = torch.optim.SGD(
            [{"params": self.policy.actor.parameters()}, {"params": self.policy.critic.parameters()}], lr=0.1
        )

    def update(self, states, actions):
        for _ in range(8):
            # trap: learns, by its parts
            logs, values = self.policy.evaluate(states, actions)
            before, _ = self.old_policy.evaluate(states, actions)  # expect: PLM066
            with torch.no_grad():
                # trap: nothing is recorded
                wanted, _ = self.target_policy.evaluate(states, actions)
            # trap: moves its weights, runs nothing
            self.old_policy.load_state_dict(self.policy.state_dict())
            loss = (logs - before).mean() + F.mse_loss(values, wanted)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


def train(generator, ear, eye, loader):
    ear.eval()
    eye.eval()
    eye.requires_grad_(False)
    generator.train()
    optimizer = torch.optim.SGD(generator.parameters(), lr=0.1)
    for x in loader:
        made = generator(x)
        heard = ear.extract_features(made)  # expect: PLM066
        # trap: frozen by its flags
        seen = eye.extract_features(made)
        loss = heard.mean() + seen.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
