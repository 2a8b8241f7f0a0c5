"""A rollout that is kept as one tensor, grown by each action."""

import torch


class Agent:
    def __init__(self, policy, optimizer):
        self.policy = policy.cuda()
        self.optimizer = optimizer
        self.states = None
        self.recent = None

    def act(self, state):
        with torch.no_grad():
            state = torch.as_tensor(state).cuda()
            action = self.policy(state).argmax()
        if self.states is None:
            self.states = state.unsqueeze(0)
        else:
            self.states = torch.vstack([self.states, state.unsqueeze(0)])  # likely: PLM045
        # trap: a few of the last
        if self.recent is not None:
            self.recent = torch.cat([self.recent, state])[-4:]
        return action.item()

    def learn(self):
        for _ in range(4):
            self.optimizer.zero_grad()
            self.policy(self.states).mean().backward()
            self.optimizer.step()
        self.states = None


def run(agent, env, episodes):
    for _ in range(episodes):
        state = env.reset()
        for _ in range(400):
            state = env.step(agent.act(state))
        agent.learn()


def main(policy, optimizer, env):
    agent = Agent(policy, optimizer)
    for _ in range(9):
        state = env.reset()
        for _ in range(400):
            state = env.step(agent.act(state))
        agent.learn()
    run(agent, env, 9)
