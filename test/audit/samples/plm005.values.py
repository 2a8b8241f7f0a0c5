from torch import autograd, nn

mse = nn.MSELoss()


def finish(actions, values, rewards, optimizer):
    value_loss = 0
    for action, value, reward in zip(actions, values, rewards):
        action.reinforce(reward - value.data[0])
        # trap: the graphs of the values were made before, together with those of the actions
        value_loss += mse(value, reward)
    optimizer.zero_grad()
    autograd.backward([value_loss] + actions)
    optimizer.step()


def held(net, parts, optimizer, wrapped):
    net.train()
    inner = net.module if wrapped else net
    total = 0.0
    for x, y in parts:
        net(x, y)
        total = total + inner.last_loss / len(parts)  # expect: PLM005
    total.backward()
    optimizer.step()


def layered(net, layers, x, optimizer):
    net.train()
    extra = 0.0
    for layer in layers:
        x = layer(x)
        # trap: one forward through all of them
        extra += layer.aux_loss
    extra.backward()
    optimizer.step()


def bounded(net, other, parts, optimizer):
    net.train()
    total = 0.0
    for x in parts:
        net(x)
        # trap: whose loss this is, and of what, is not seen
        total += other.last_loss
    total.backward()
    optimizer.step()
