import torch
from nets import ActorCritic

local_model = ActorCritic(4, 2).cuda()
optimizer = torch.optim.Adam(local_model.parameters(), fused=True)


def rollouts(env, steps):
    done = True
    state = env.reset()
    while True:
        if done:
            h_0 = torch.zeros((1, 512))  # expect: PLM006
        values = []
        for _ in range(steps):
            value, h_0 = local_model(state, h_0)
            values.append(value)
            state, done = env.step(value)
        loss = torch.cat(values).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def cut(env, steps):
    done = True
    state = env.reset()
    while True:
        # trap: cut off otherwise
        if done:
            h_0 = torch.zeros((1, 512))
        else:
            h_0 = h_0.detach()
        values = []
        for _ in range(steps):
            value, h_0 = local_model(state, h_0)
            values.append(value)
            state, done = env.step(value)
        loss = torch.cat(values).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
