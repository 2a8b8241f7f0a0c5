import numpy as np
import pandas as pd
import torch
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from torch.utils.data import Dataset

device = torch.device("cuda")


def split(path):
    frame = pd.read_csv(path)
    rows, wanted = frame.drop("price", axis=1).values, frame["price"].values
    seen, held, seen_wanted, held_wanted = train_test_split(rows, wanted, test_size=0.2)
    scaler = StandardScaler()
    seen = scaler.fit_transform(seen)
    held = scaler.transform(held)
    seen = torch.tensor(seen).to(device)  # expect: PLM043
    held = torch.from_numpy(held).to(device)  # expect: PLM043
    # trap: perhaps whole numbers
    return seen, held, torch.from_numpy(seen_wanted).to(device), held_wanted


def narrow(path):
    frame = pd.read_csv(path)
    rows = StandardScaler().fit_transform(frame.values.astype("float32"))
    # trap: cast before it is scaled
    return torch.from_numpy(rows).to(device)


def told(path):
    frame = pd.read_csv(path, dtype=np.float32)
    # trap: read as float32
    return torch.from_numpy(frame.values / 10).to(device)


def handed(rows):
    # trap: nobody here says what it scales
    return torch.from_numpy(StandardScaler().fit_transform(rows)).to(device)


def windows(series, length):
    past, wanted = [], []
    for at in range(len(series) - length):
        past.append(series[at : at + length])
        wanted.append(series[at + length])
    return np.array(past), np.array(wanted)


def forecast(path):
    series = pd.read_csv(path)["load"].values.reshape(-1, 1)
    series = MinMaxScaler().fit_transform(series)
    past, wanted = windows(series, 30)
    return torch.from_numpy(past).to(device), wanted  # expect: PLM043


def forecast_narrow(series):
    past, wanted = windows(series.astype(np.float32), 30)
    # trap: float32 as it is handed in
    return torch.from_numpy(past).to(device), wanted


def places(length, width):
    table = np.array([[at / np.power(10000, 2 * (i // 2) / width) for i in range(width)] for at in range(length)])
    table[:, 0::2] = np.sin(table[:, 0::2])
    return torch.from_numpy(table).to(device)  # expect: PLM043


def numbers(length, width):
    table = np.array([[at * width + i for i in range(width)] for at in range(length)])
    # trap: whole numbers
    return torch.from_numpy(table).to(device)


class Rows(Dataset):
    def __init__(self, path):
        frame = pd.read_csv(path)
        self.rows = frame[["heat", "flow"]].to_numpy()
        self.centre, self.spread = self.rows.mean(0), self.rows.std(0)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, at):
        return torch.from_numpy((self.rows[at] - self.centre) / self.spread)  # expect: PLM043


class Counts(Dataset):
    def __init__(self, path):
        self.rows = pd.read_csv(path)[["clicks", "views"]].to_numpy()

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, at):
        # trap: perhaps whole numbers
        return torch.from_numpy(self.rows[at])
