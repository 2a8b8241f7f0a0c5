import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset


def opened(path):
    return np.array(Image.open(path)).transpose(2, 0, 1)


def prepare(samples):
    pairs = np.stack([opened(path) for path in samples["path"]])
    pairs = 2 * (pairs / 255.0) - 1
    samples["pixels"] = torch.from_numpy(pairs)  # expect: PLM043
    # trap: whole numbers
    samples["places"] = torch.from_numpy(np.arange(8))
    return samples


def unused(samples):
    # trap: no loader calls it
    return torch.from_numpy(np.stack([opened(path) for path in samples]) / 255.0)


class Tensors(Dataset):
    def __getitem__(self, at):
        image = np.array(Image.open(self.paths[at]))
        return torch.from_numpy(image / 255.0).permute(2, 0, 1), self.labels[at]  # expect: PLM043


class Narrowed(Dataset):
    def __getitem__(self, at):
        image = np.array(Image.open(self.paths[at]))
        # trap: cast before the loader has it
        return torch.from_numpy(image / 255.0).float(), self.labels[at]


def weighed(masks, small, device):
    a = torch.from_numpy(np.where(masks > 0, 2.0, 1.0)).to(device)  # expect: PLM043
    b = torch.from_numpy(np.where(masks > 0, np.arange(4), 0.5)).to(device)  # expect: PLM043
    # trap: whole numbers
    c = torch.from_numpy(np.where(masks > 0, 2, 1)).to(device)
    # trap: a number leaves an array's type as it is, and nobody knows that
    d = torch.from_numpy(np.where(masks > 0, small, 1.0)).to(device)
    # trap: places
    e = torch.from_numpy(np.where(masks > 0)[0]).to(device)
    return a, b, c, d, e


class Agent:
    def __init__(self, device):
        self.device = device
        self.states, self.reward_buffer = [], []
        self.kept_rewards = []

    def store(self, state, reward):
        self.states.append(state)
        self.reward_buffer.append(reward)
        self.kept_rewards.append(np.float32(reward))

    def learn(self):
        gains = torch.from_numpy(np.array(self.reward_buffer)).to(self.device)  # expect: PLM043
        # trap: put there as float32
        kept = torch.from_numpy(np.array(self.kept_rewards)).to(self.device)
        # trap: observations may be of any type
        states = torch.from_numpy(np.array(self.states)).to(self.device)
        return gains, kept, states


def main(dataset, device):
    loader = DataLoader(dataset.with_transform(prepare), batch_size=8)
    return [batch["pixels"].to(device) for batch in loader]
