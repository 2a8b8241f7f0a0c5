import torch


def play(model, envs, state, optimizer, steps):
    entropy = 0
    values = []
    for batch in envs.batches(steps):
        dist, value = model(batch)
        # trap: the values of the same forward wait for the returns
        entropy += dist.entropy().mean()
        values.append(value)
    loss = returns(values) - 0.01 * entropy
    loss.backward()
    optimizer.step()


def train(model, micro_batches, optimizer, loss_fn):
    total = 0
    for x, y in micro_batches:
        total += loss_fn(model(x), y)  # expect: PLM005
    total.backward()
    optimizer.step()
