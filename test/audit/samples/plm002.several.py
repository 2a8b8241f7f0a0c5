"""What a function hands back may be a list, or a dict, and has no `detach`."""

import torch


def run_part(model, x, y, caches):
    out, caches = model(x, caches)
    loss = torch.nn.functional.nll_loss(out, y)
    loss.backward()
    return loss.item(), caches


def train(model, xs, ys, caches, parts, optimizer):
    kept, losses, seen = [], [], []
    for part in range(parts):
        loss, cache = run_part(model, xs[part], ys[part], caches)
        # trap: a number
        losses.append(loss)
        kept.append(cache)  # expect: PLM002, by hand
        # trap: detached
        seen.append(model(xs[part], caches)[0].detach())
        # trap: of one turn
        both = [cache, cache]
    optimizer.step()
    return [torch.cat([kept[i][at] for i in range(parts)]) for at in range(len(caches))], losses, seen, both
