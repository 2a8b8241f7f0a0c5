import torch.nn.functional as F


class Agent:
    def __init__(self, critic, target, slow, optimizer, memory):
        self.critic = critic.cuda()
        self.target = target.cuda()
        self.slow = slow.cuda()
        self.optimizer = optimizer
        self.memory = memory

    def learn(self):
        states, wanted = self.memory.sample(256)
        loss = F.mse_loss(self.critic(states.cuda()), self.target(wanted.cuda()).detach())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def follow(self):
        for ours, theirs in zip(self.critic.parameters(), self.target.parameters()):
            theirs.data.mul_(0.995)  # expect: PLM034
            theirs.data.add_(0.005 * ours.data)

    def follow_slowly(self):
        for ours, theirs in zip(self.critic.parameters(), self.slow.parameters()):
            # trap: once in a thousand turns
            theirs.data.copy_(ours.data)

    def restore(self):
        for ours, theirs in zip(self.critic.parameters(), self.slow.parameters()):
            # trap: in the same branch as the step, and under a test of its own
            ours.data.copy_(theirs.data)

    def play(self, world, turns):
        state = world.reset()
        for turn in range(turns):
            state = world.step(state)
            self.memory.append(state)
            if turn % 4 == 0:
                self.learn()
                self.follow()
                if turn % 5000 == 0:
                    self.restore()
            if turn % 1000 == 0:
                self.follow_slowly()
