import torch
import torch.nn as nn


class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, 8)

    def forward(self, inputs, hidden):
        return self.lstm(inputs, hidden)


class Search:
    def __init__(self, controller, criterion):
        self.child = Child()
        self.controller = controller
        self.criterion = criterion
        self.optimizer = torch.optim.Adam(controller.parameters())

    def reward(self, inputs, targets, hidden):
        output, hidden = self.child(inputs, hidden)
        loss = self.criterion(output, targets)
        return -loss.item(), hidden

    def quiet(self, inputs, targets, hidden):
        with torch.no_grad():
            output, hidden = self.child(inputs, hidden)
        return -self.criterion(output, targets).item(), hidden

    def learn(self, chunks):
        hidden = None
        at = 0
        for _ in range(1000):
            log_prob = self.controller()
            reward, hidden = self.reward(*chunks[at], hidden)  # expect: PLM006
            loss = (-log_prob * reward).sum()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            at += 1
            if at == len(chunks):
                at = 0
                hidden = None

    def learn_by_choice(self, chunks, begin):
        hidden = begin()
        for at in range(1000):
            log_prob = self.controller()
            reward, hidden = self.reward(*chunks[at], hidden)  # expect: PLM006
            loss = (-log_prob * reward).sum()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            hidden = begin() if at % len(chunks) == 0 else hidden

    def learn_anew(self, chunks, begin):
        hidden = begin()
        for inputs, targets in chunks:
            # trap: begun anew in each turn
            reward, hidden = self.reward(inputs, targets, hidden)
            loss = (-self.controller() * reward).sum()
            loss.backward()
            self.optimizer.step()
            hidden = begin()

    def learn_cut(self, chunks, begin):
        hidden = begin()
        for at, (inputs, targets) in enumerate(chunks):
            # trap: begun anew, or cut off
            reward, hidden = self.reward(inputs, targets, hidden)
            loss = (-self.controller() * reward).sum()
            loss.backward()
            self.optimizer.step()
            if at % 100 == 0:
                hidden = begin()
            else:
                hidden = tuple(one.detach() for one in hidden)

    def learn_quietly(self, chunks, begin):
        hidden = begin()
        for at, (inputs, targets) in enumerate(chunks):
            with torch.no_grad():
                # trap: nothing is recorded
                reward, hidden = self.reward(inputs, targets, hidden)
            loss = (-self.controller() * reward).sum()
            loss.backward()
            self.optimizer.step()
            if at % 100 == 0:
                hidden = begin()

    def learn_by_quiet(self, chunks, begin):
        hidden = begin()
        for at, (inputs, targets) in enumerate(chunks):
            # trap: nor here
            reward, hidden = self.quiet(inputs, targets, hidden)
            loss = (-self.controller() * reward).sum()
            loss.backward()
            self.optimizer.step()
            if at % 100 == 0:
                hidden = begin()
