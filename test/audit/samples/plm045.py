import torch


def gather(model, loader, prompt, steps):
    outs = torch.zeros(0, 4)
    for x in loader:
        outs = torch.cat([outs, model(x)])  # expect: PLM045
    tokens = torch.zeros(1, 1)
    for _ in range(steps):
        # trap: the loop reads the whole each turn
        following = model(tokens)
        tokens = torch.cat([tokens, following], dim=1)
    parts = []
    for x in loader:
        parts.append(model(x))
        # trap: begun in this turn
        pair = x
        pair = torch.cat([pair, x])
    # trap: once
    outs = torch.cat([outs, prompt])
    return outs, torch.cat(parts), tokens, pair


class Seen:
    def __init__(self):
        self.all = torch.empty(0)
        self.last = torch.empty(0)

    def keep(self, x):
        self.all = torch.cat((self.all, x[None]))  # expect: PLM045

    def close(self, x):
        # trap: once, at the end
        self.last = torch.cat((self.last, x[None]))


class Player:
    def __init__(self):
        self.seen = Seen()

    def act(self, x):
        self.seen.keep(x)
        return x

    def end(self, x):
        self.seen.close(x)


def play(env, turns):
    player = Player()
    x = env.reset()
    for _ in range(turns):
        x = env.step(player.act(x))
    player.end(x)
