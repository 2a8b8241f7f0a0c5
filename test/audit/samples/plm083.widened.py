import time

import torch

device = torch.device("cuda")


def train(model, loader, optimizer):
    model.train()
    for x in loader:
        start = time.time()
        loss = model(x).float().mean()
        loss.backward()
        print(time.time() - start)  # expect: PLM083
        begin = time.time()
        value = float(model(x).mean())
        # trap: reading waits
        print(time.time() - begin, value)
        optimizer.step()


def by_its_forward(policy, loader):
    policy.train()
    for batch in loader:
        start = time.perf_counter()
        policy.forward(batch)
        print(time.perf_counter() - start)  # expect: PLM083
