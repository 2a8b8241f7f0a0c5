import torch

device = torch.device("cuda")


class Runner:
    def __init__(self, env, agent):
        self.env = env
        self.agent = agent
        self.view = env.reset()

    def run(self, turns):
        chances, worths = [], []
        for _ in range(turns):
            chance, worth = self.agent(self.view)
            chances.append(chance.detach())
            worths.append(worth)  # expect: PLM017
            self.view, reward, over, _ = self.env.step(chance.argmax().item())
        return chances, worths

    def run_through(self, turns):
        chances, worths = [], []
        for _ in range(turns):
            chance, worth = self.agent(self.view)
            # trap: whoever called this may differentiate both
            chances.append(chance)
            worths.append(worth)
            self.view, reward, over, _ = self.env.step(chance.argmax().item())
        return chances, worths
