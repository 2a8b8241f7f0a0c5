"""An agent that plays to learn, and plays to be measured, with a state in two halves."""

import torch
import torch.nn.functional as F


class Agent:
    def __init__(self, model, env, state):
        self.model = model
        self.env = env
        self.state = state
        self.hx = None
        self.cx = None
        self.values = []
        self.log_probs = []

    def action_train(self):
        # trap: what comes back is differentiated at the end of a rollout
        value, logit, self.hx, self.cx = self.model(self.state.unsqueeze(0), self.hx, self.cx)
        prob = F.softmax(logit, dim=1)
        action = prob.multinomial(1).data
        self.log_probs.append(F.log_softmax(logit, dim=1).gather(1, action))
        self.values.append(value)
        self.state, self.reward, self.done, _ = self.env.step(action.item())

    def action_test(self):
        _, logit, self.hx, self.cx = self.model(self.state.unsqueeze(0), self.hx, self.cx)  # expect: PLM006
        prob = F.softmax(logit, dim=1)
        action = prob.detach().cpu().numpy().argmax()
        self.state, self.reward, self.done, _ = self.env.step(action)

    def evaluate_step(self):
        _, logit, (self.hx, self.cx) = self.model(self.state, (self.hx, self.cx))  # expect: PLM006
        action = torch.argmax(logit, dim=1)
        self.state, self.reward, self.done, _ = self.env.step(action.item())

    def test_greedily(self):
        _, logit, self.hx, self.cx = self.model(self.state.unsqueeze(0), self.hx, self.cx)  # expect: PLM006
        action = logit.max(1)[1].data[0]
        self.state, self.reward, self.done, _ = self.env.step(action.item())

    def test_still(self):
        with torch.no_grad():
            # trap: nothing is recorded
            _, logit, self.hx, self.cx = self.model(self.state.unsqueeze(0), self.hx, self.cx)
        action = torch.softmax(logit, -1).cpu().numpy().argmax()
        self.state, self.reward, self.done, _ = self.env.step(action)

    def explore_on(self):
        # trap: the state that it leaves is where the learning goes on
        _, logit, self.hx, self.cx = self.model(self.state.unsqueeze(0), self.hx, self.cx)
        action = torch.argmax(logit, dim=1)
        self.state, self.reward, self.done, _ = self.env.step(action.item())


def test(agent):
    while True:
        agent.action_test()
        agent.evaluate_step()


def train(agent, optimizer):
    for _ in range(1000):
        agent.hx, agent.cx = agent.hx.data, agent.cx.data
        for _ in range(20):
            agent.action_train()
        loss = sum(agent.values).mean() - sum(agent.log_probs).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
