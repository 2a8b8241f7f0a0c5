import numpy as np
import torch


def adapt(model, loader, optimizer, steps):
    for turn, (x, y) in enumerate(loader):
        share = turn / steps
        weight = 2.0 / (1.0 + np.exp(-10 * share)) - 1
        loss = model(x.cuda(), weight).mean()
        loss.backward()
        optimizer.step()
        print("{:.5f}".format(loss))  # expect: PLM026
        # trap: numbers and NumPy make a number of the host, whoever is handed it
        print("{:.5f}".format(weight))
