import torch
from torch.nn import functional as F


def play(env, policy, target, memory, optimizer):
    policy = policy.cuda()
    state = env.reset()
    for _ in range(100000):
        q = policy(torch.as_tensor(state, device="cuda").unsqueeze(0))  # expect: PLM019
        action = q.max(1)[1].item()
        state, reward, done, _ = env.step(action)
        memory.push(state, action, reward)
        s, a, r, n = memory.sample(32)
        # trap: the loss is made of its values
        best = policy(s).max(1)[0]
        with torch.no_grad():
            aim = r + 0.99 * target(n).max(1)[0]
        loss = F.smooth_l1_loss(best, aim)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
