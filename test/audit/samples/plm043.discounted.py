import numpy as np
import torch


class Agent:
    def __init__(self, net, gamma):
        self.net = net.to("cuda")
        self.gamma = gamma
        self.optimizer = torch.optim.Adam(net.parameters())

    def returns(self, rewards):
        found, total = [], 0.0
        for reward in reversed(rewards):
            total = reward + self.gamma * total
            found.insert(0, total)
        found = np.array(found)
        return (found - found.mean()) / (found.std() + 1e-8)

    def narrow_returns(self, rewards):
        found, total = [], 0.0
        for reward in reversed(rewards):
            total = reward + self.gamma * total
            found.insert(0, total)
        return np.array(found, dtype=np.float32)

    def places(self, rewards):
        found = []
        for at, _ in enumerate(rewards):
            found.append(at)
        return np.array(found)

    def learn(self, states, rewards):
        wanted = torch.from_numpy(self.returns(rewards)).to("cuda")  # expect: PLM043
        # trap: made float32
        narrow = torch.from_numpy(self.narrow_returns(rewards)).to("cuda")
        # trap: whole numbers
        places = torch.from_numpy(self.places(rewards)).to("cuda")
        # trap: of a list, torch makes float32
        listed = torch.tensor(list(self.returns(rewards)), dtype=torch.float32).to("cuda")
        loss = (self.net(states) - wanted - narrow - listed)[places].pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
