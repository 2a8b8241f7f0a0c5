import copy

import torch


class Clipped:
    def __init__(self, make, epochs):
        self.policy = make().cuda()
        self.before = make().cuda()
        self.before.load_state_dict(self.policy.state_dict())
        self.critic = make().cuda()
        self.critic.load_state_dict(torch.load("critic.pt", map_location="cuda"))
        self.target = make().cuda()
        self.target.load_state_dict(self.critic.state_dict())
        self.epochs = epochs
        self.optimizer = torch.optim.SGD([*self.policy.parameters(), *self.critic.parameters()], lr=0.1)

    def update(self, states, batches):
        for _ in range(self.epochs):
            with torch.no_grad():
                known = self.before.value(states)  # expect: PLM080
                # trap: it learns here
                now = self.critic(states)
                # trap: it follows what learns
                wanted = self.target(states)
                # trap: drawn anew
                drawn = self.before.sample(states)
            loss = (self.policy(states) - known - now - wanted - drawn).square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.follow()
        for batch in batches:
            with torch.no_grad():
                # trap: another batch each time
                known = self.before.value(batch)
            (self.policy(batch) - known).square().mean().backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
        self.before.load_state_dict(self.policy.state_dict())

    def follow(self):
        self.target.load_state_dict(self.critic.state_dict())


class Again:
    def __init__(self, policy, epochs):
        self.policy = policy.cuda()
        self.last = copy.deepcopy(policy)
        self.epochs = epochs
        self.optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)

    def update(self, states):
        for _ in range(self.epochs):
            with torch.no_grad():
                # trap: it gets the weights in every turn
                known = self.last(states)
            (self.policy(states) - known).square().mean().backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.last.load_state_dict(self.policy.state_dict())
