import torch
import torch.nn.functional as F
from nets import ActorCritic

net = ActorCritic(4, 2).cuda()
optimizer = torch.optim.Adam(net.parameters(), fused=True)


def play(env, steps):
    done = True
    state = env.reset()
    while True:
        if done:
            hx = torch.zeros(1, 256)  # expect: PLM006
            cx = torch.zeros(1, 256)  # expect: PLM006
        values = []
        for _ in range(steps):
            value, (hx, cx) = net((state.unsqueeze(0), (hx, cx)))
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
            hx = torch.zeros(1, 256)
            cx = torch.zeros(1, 256)
        else:
            hx, cx = hx.detach(), cx.detach()
        values = []
        for _ in range(steps):
            value, (hx, cx) = net((state.unsqueeze(0), (hx, cx)))
            values.append(value)
            state, done = env.step(value)
        loss = torch.cat(values).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def anew(loader):
    for x, y in loader:
        # trap: begun anew for each batch
        hx, cx = torch.zeros(1, 256), torch.zeros(1, 256)
        out, (hx, cx) = net((x, (hx, cx)))
        loss = F.mse_loss(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def perplexity(loader):
    hx, cx = torch.zeros(1, 256), torch.zeros(1, 256)
    total = 0.0
    # trap: nothing is recorded
    with torch.no_grad():
        for x, y in loader:
            out, (hx, cx) = net((x, (hx, cx)))
            total += F.cross_entropy(out, y).item()
    return total
