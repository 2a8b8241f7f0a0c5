import torch


class Agent:
    def __init__(self, net):
        self.net = net.to("cuda")
        self.optimizer = torch.optim.Adam(net.parameters(), lr=1e-4)
        self.scale = torch.ones(1, device="cuda")
        self.cut = torch.ones(1, device="cuda")
        self.learnt = torch.ones(1, device="cuda")

    def update(self, states):
        returns = self.net(states)
        self.scale = 0.99 * self.scale + 0.01 * returns.std()  # expect: PLM018
        # trap: cut off where it is added
        self.cut = 0.99 * self.cut + 0.01 * returns.detach().std()
        # trap: the loss may want its graph
        self.learnt = 0.9 * self.learnt + 0.1 * returns.mean()
        loss = -(returns / self.scale.detach() / self.cut.detach()).mean() + self.learnt
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    @torch.no_grad()
    def watch(self, states):
        # trap: nothing is recorded
        self.seen = 0.99 * self.seen + 0.01 * self.net(states).mean()
        return self.seen.detach()


def train(agent, loader):
    for states in loader:
        agent.update(states.to("cuda"))
