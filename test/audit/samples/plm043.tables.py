"""Rows of a table that a TensorDataset keeps, cast where they were sent."""

import pandas
import torch
from sklearn.preprocessing import StandardScaler
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


def load(path):
    table = pandas.read_csv(path)
    aims = table.pop("aim").to_numpy().astype(float)
    rows = StandardScaler().fit_transform(table.to_numpy().astype(float))
    return TensorDataset(torch.from_numpy(rows), torch.from_numpy(aims))


def load_narrow(path):
    table = pandas.read_csv(path)
    return TensorDataset(torch.from_numpy(table.to_numpy().astype(float)).float())


def train(net, path, optimizer, device="cuda"):
    for x, y in DataLoader(load(path), batch_size=4096, num_workers=2, pin_memory=True):
        x = x.to(device, non_blocking=True).float()  # expect: PLM043
        # trap: cast before
        y = y.float().to(device, non_blocking=True)
        loss = F.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def train_narrow(net, path, optimizer, device="cuda"):
    for (x,) in DataLoader(load_narrow(path), batch_size=4096, num_workers=2, pin_memory=True):
        # trap: cast where it was made
        x = x.to(device, non_blocking=True).float()
        loss = net(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
