import copy

import torch
import torch.nn as nn


class Learner(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def snapshot(self):
        # trap: whoever asks may do so before the run
        return copy.deepcopy(self.net.state_dict())

    def fit(self, loader, epochs):
        self.to("cuda")
        optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        for epoch in range(epochs):
            for x, y in loader:
                loss = (self.net(x.cuda()) - y.cuda()).pow(2).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            best = copy.deepcopy(self.net.state_dict())  # expect: PLM015
        self.net.load_state_dict(best)
