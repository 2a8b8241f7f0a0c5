"""Steps taken by a method, and one of two optimizers that accumulates."""

import torch.nn.functional as F


class Learner:
    def step(self, x, y):
        loss = F.cross_entropy(self.net(x), y)
        loss.backward()  # expect: PLM065
        if self.turn % 4 == 0:
            self.apply()

    def apply(self):
        self.optimizer.step()
        for param in self.net.parameters():
            param.grad = None


class Divided:
    def step(self, x, y):
        # trap: the method that steps divides what has added up
        F.cross_entropy(self.net(x), y).backward()
        if self.turn % 4 == 0:
            self.apply()

    def apply(self):
        for param in self.net.parameters():
            param.grad /= 4
        self.optimizer.step()
        self.optimizer.zero_grad()


class Cleared:
    def step(self, x, y):
        self.optimizer.zero_grad()
        # trap: cleared every turn, the step is only skipped
        F.cross_entropy(self.net(x), y).backward()
        if self.turn % 4 == 0:
            self.apply()

    def apply(self):
        self.optimizer.step()


def rarely(net, critic, batches, opt_net, opt_critic):
    for turn, (x, y) in enumerate(batches):
        opt_critic.zero_grad()
        # trap: its own optimizer steps every turn
        critic(net(x).detach(), y).mean().backward()
        opt_critic.step()
        if turn % 5 == 0:
            opt_net.zero_grad()
            # trap: differentiated as often as it is stepped
            critic(net(x), y).mean().backward()
            opt_net.step()


def waits(net, critic, batches, opt_net, opt_critic):
    for turn, (x, y) in enumerate(batches):
        opt_critic.zero_grad()
        critic(net(x).detach(), y).mean().backward()
        opt_critic.step()
        critic(net(x), y).mean().backward()  # expect: PLM065
        if turn % 5 == 0:  # expect: PLM065
            opt_net.step()
            opt_net.zero_grad()


class Asked:
    def due(self, turn):
        return (turn + 1) % self.args.window == 0

    def odd(self, turn):
        print(turn)
        return turn % 2 == 0

    def fit(self, batches):
        for turn, (x, y) in enumerate(batches):
            loss = F.cross_entropy(self.net(x), y)
            loss.backward()  # expect: PLM065
            if self.due(turn):  # expect: PLM065
                self.optimizer.step()
                self.optimizer.zero_grad()

    def often(self, batches):
        for turn, (x, y) in enumerate(batches):
            loss = F.cross_entropy(self.net(x), y) / 2
            # trap: divided
            loss.backward()
            # trap: what else it does is not known
            if self.odd(turn):
                self.optimizer.step()
                self.optimizer.zero_grad()
