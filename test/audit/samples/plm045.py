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
