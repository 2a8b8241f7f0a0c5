import torch
import torch.nn.functional as F
from nets import Critic, Encoder, RandomShifts


class Agent:
    def __init__(self):
        self.encoder = Encoder().cuda()
        self.augment = RandomShifts(4)
        self.critic = Critic().cuda()
        self.target = Critic().cuda()
        parameters = [*self.encoder.parameters(), *self.critic.parameters()]
        self.optimizer = torch.optim.Adam(parameters, lr=1e-4, fused=True)

    def learn(self, before, action, reward, after):
        with torch.no_grad():
            wanted = reward + 0.99 * self.target(after).amax(1)
        loss = F.mse_loss(self.critic(before).gather(1, action), wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def update(self, batch):
        before, action, reward, after = (part.cuda() for part in batch)
        before = self.encoder(before)
        after = self.encoder(after)  # expect: PLM020
        self.learn(before, action, reward, after)

    def guarded(self, batch):
        before, action, reward, after = (part.cuda() for part in batch)
        before = self.encoder(before)
        # trap: nothing is recorded
        with torch.no_grad():
            after = self.encoder(after)
        self.learn(before, action, reward, after)

    def augmented(self, batch):
        before, action, reward, after = (part.cuda() for part in batch)
        before = self.encoder(self.augment(before))
        # trap: it has nothing to learn, and so records nothing of data
        after = self.augment(after)
        self.learn(before, action, reward, after)

    def consistent(self, batch):
        before, action, reward, after = (part.cuda() for part in batch)
        before = self.encoder(before)
        # trap: a loss of its own reads it as well
        after = self.encoder(after)
        with torch.no_grad():
            wanted = reward + 0.99 * self.target(after).amax(1)
        loss = F.mse_loss(self.critic(before).gather(1, action), wanted) + F.mse_loss(before, after)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def handed_on(self, batch):
        before, action, reward, after = (part.cuda() for part in batch)
        # trap: somebody else may differentiate it
        after = self.encoder(after)
        with torch.no_grad():
            wanted = reward + 0.99 * self.target(after).amax(1)
        loss = F.mse_loss(self.critic(self.encoder(before)).gather(1, action), wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return after
