import numpy as np
import torch


def train(solver, table, net, loader, optimizer, device):
    solver = solver.to(device)
    for x in loader:
        x = x.to(device)
        index = np.random.randint(0, 50, x.shape[0])
        timesteps = solver.timesteps[index]  # expect: PLM070
        # trap: nobody has sent it anywhere
        names = table.names[np.random.randint(0, 50, x.shape[0])]
        print(names)
        loss = net(x, timesteps).mean()
        loss.backward()
        optimizer.step()
