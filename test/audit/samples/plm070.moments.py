import numpy as np
import torch
from accelerate import Accelerator


def learn(draws, net, opt, n, moments):
    accelerator = Accelerator()
    for epoch in range(3):
        kept = []
        for x in draws:
            x = x.to(accelerator.device)
            kept.append({"x": x, "told": x.mean(-1)})
        kept = {k: torch.cat([one[k] for one in kept]) for k in kept[0].keys()}
        order = np.random.permutation(n)
        # trap: once for all the steps of an epoch
        mixed = {k: v[order] for k, v in kept.items()}
        for i in range(n // 8):
            rows = order[i * 8 : (i + 1) * 8]
            part = {k: v[rows] for k, v in kept.items()}  # expect: PLM070
            # trap: a view, of what was mixed
            whole = mixed["x"][i * 8 : (i + 1) * 8]
            for j in range(moments):
                loss = (net(part["x"][:, j]) - part["told"] - whole[:, j]).mean()
                accelerator.backward(loss)
                opt.step()
                opt.zero_grad()


def learn_on_host(draws, net, opt, n, moments):
    accelerator = Accelerator()
    kept = []
    for x in draws:
        kept.append({"x": x, "told": torch.zeros(8)})
    kept = {k: torch.cat([one[k] for one in kept]) for k in kept[0].keys()}
    order = np.random.permutation(n)
    for i in range(n // 8):
        rows = order[i * 8 : (i + 1) * 8]
        # trap: not there yet
        part = {k: v[rows].to(accelerator.device) for k, v in kept.items()}
        for j in range(moments):
            loss = (net(part["x"][:, j]) - part["told"]).mean()
            accelerator.backward(loss)
            opt.step()
            opt.zero_grad()
