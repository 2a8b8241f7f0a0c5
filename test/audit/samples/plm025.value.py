"""What a network gives beside its loss, as a number."""


def step(batch, net, optimizer):
    out = net(batch)
    loss = out.loss
    value = out.loss_value
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return value / len(batch), loss


def train(net, batches, optimizer):
    net.cuda()
    total = other = 0.0
    for batch in batches:
        value, loss = step(batch.cuda(), net, optimizer)
        total += float(value)
        other += float(loss)  # expect: PLM025
    return total, other
