import random

import torch


class Worker:
    def __init__(self, net, optimizer, env):
        self.net = net.cuda()
        self.optimizer = optimizer
        self.env = env

    def run(self, states):
        for state in states:
            epsilon = self.explore()
            action, loss = self.pick_action_and_get_critic_values(self.net, state, epsilon)
            loss.backward()
            self.optimizer.step()

    def explore(self):
        return max(0.0, random.uniform(0.1, 0.3))

    def pick_action_and_get_critic_values(self, policy, state, epsilon=None):
        output = policy.forward(torch.from_numpy(state).cuda())
        # trap: two of Python's own numbers; the method is no network
        if random.random() <= epsilon:
            return random.randint(0, 3), output.sum()
        return output.argmax(), output.sum()
