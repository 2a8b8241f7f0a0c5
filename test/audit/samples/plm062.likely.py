import re

import torch


class Agent:
    def __init__(self, net):
        # trap: once
        self.net = torch.compile(net)
        self.raw = net

    def train_step(self, batch, optimizer):
        fast = torch.compile(self.raw)  # expect: PLM062
        loss = fast(batch).mean()
        loss.backward()
        optimizer.step()

    def run(self, rounds, batches):
        for _ in range(rounds):
            self.raw = torch.compile(self.raw)  # expect: PLM062
            self.go(self.raw, batches)

    def shrink(self, net):
        # trap: each part once
        for name, part in net.named_children():
            setattr(net, name, torch.compile(part))
        return net


def fit(core, rounds, batches):
    for epoch in rounds:
        core.compile(mode="max-autotune")  # likely: PLM062

        @torch.compile  # likely: PLM062
        def objective(one):
            return core(one).mean()

        objective(batches[epoch])


def search(words, text):
    for word in words:
        # trap: another kind of compiling
        text = re.compile(word).sub("", text)
    for word in words:
        pattern = word.compile("x")
    return text, pattern
