import torch


def train(model, loader, optimizer):
    seen, by_step, norms = {}, {}, torch.zeros(1000).cuda()
    for step, x in enumerate(loader):
        x = x.cuda()
        size = x.shape[0]
        local = {}
        # trap: gone with the turn
        local[x] = 1
        # trap: a number
        by_step[step] = size
        index = torch.randint(0, 1000, (4,), device="cuda")
        # trap: a tensor written into
        norms[index] = 1.0
        if x not in seen:
            seen[x] = size  # expect: PLM013
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
