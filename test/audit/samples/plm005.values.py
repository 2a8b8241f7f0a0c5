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
