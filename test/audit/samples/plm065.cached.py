import torch
import torch.nn.functional as F


def cached(net, optimizer, batches, parts, kept):
    # trap: each turn has the loss of the whole batch, and its own part of the gradient
    for j in range(parts):
        out = net(batches[j].cuda())
        rows = torch.cat(kept[:j] + [out] + kept[j + 1 :])
        loss = contrast(rows)
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def placed(net, optimizer, batches, accum_steps, kept):
    for batch in batches:
        # trap: the same, put in its place
        for j in range(accum_steps):
            kept[j] = net(batch[j].cuda())
            loss = contrast(torch.cat(kept))
            loss.backward()
            kept[j] = kept[j].detach()
        optimizer.step()
        optimizer.zero_grad()


def divided(net, optimizer, loader, config):
    for x, y in loader:
        # trap: divided, as a number
        for j in range(config["num_accumulations"]):
            loss = F.cross_entropy(net(x[j].cuda()), y[j].cuda())
            loss = loss / float(config["num_accumulations"])
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def summed(net, optimizer, loader, config):
    for x, y in loader:
        for j in range(config["num_accumulations"]):
            loss = F.cross_entropy(net(x[j].cuda()), y[j].cuda())
            loss.backward()  # expect: PLM065
        optimizer.step()
        optimizer.zero_grad()


def contrast(rows):
    return (rows @ rows.T).logsumexp(-1).mean()
