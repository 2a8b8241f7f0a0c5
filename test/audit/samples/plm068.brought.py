import torch.nn.functional as F


class Learner:
    def __init__(self, net, memory, optimizer, device):
        self.net = net.to(device)
        self.memory = memory
        self.optimizer = optimizer

    def learn(self, names):
        batch = self.memory.sample(64)
        views, gains, over, ends = batch
        # trap: of the host
        if any(names):
            gains = gains * 2
        if any(over):  # expect: PLM068
            gains = gains * (1 - over.float())
        flat = ends.view(-1)
        if all(flat):  # expect: PLM068
            gains = gains + 1
        # trap: on the device
        gains = gains.masked_fill(flat, 0.0) if ends.any() else gains
        loss = F.mse_loss(self.net(views), gains)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


class Player:
    def __init__(self, net, envs, device):
        self.net = net.to(device)
        self.envs = envs

    def learn(self, optimizer, moves):
        views, rewards, over, infos = self.envs.step(moves)
        # trap: what an environment hands out is an array
        if any(over):
            self.envs.reset()
        loss = self.net(views).mean()
        loss.backward()
        optimizer.step()


def train(model, loader, optimizer, device):
    for batch in loader:
        sounds, lengths = batch["sounds"].to(device), batch["lengths"].to(device)
        longest = max(lengths)  # expect: PLM068
        # trap: of the host
        shortest = min(batch["lengths"])
        loss = model(sounds[:, :longest]).mean() * shortest
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
