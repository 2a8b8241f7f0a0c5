import torch


class Painter:
    def __init__(self, generator):
        self.generator = generator
        self.optimizer = torch.optim.Adam(self.generator.parameters(), fused=True)

    def _step(self, critic, noise):
        loss = -critic(self.generator(noise)).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def step(self, critic, noise):
        self.generator.train()
        critic.eval()
        # trap: the gradients of the generator come through it
        for _ in range(4):
            self._step(critic, noise)


class Pupil:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.Adam(self.net.parameters(), fused=True)

    def _step(self, judge, images):
        loss = (self.net(images) - judge(images)).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def step(self, judge, images):
        self.net.train()
        judge.eval()
        for _ in range(4):
            self._step(judge, images)  # expect: PLM020
