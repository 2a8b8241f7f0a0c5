"""What files of NumPy hold, cast in one entry of an example and not in the other."""

import os

import h5py
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Votes(Dataset):
    def __init__(self, root, names):
        self.root, self.names = root, names

    def __len__(self):
        return len(self.names)

    def __getitem__(self, idx):
        points = np.load(os.path.join(self.root, self.names[idx]) + "_points.npz")["points"]
        votes = np.load(os.path.join(self.root, self.names[idx]) + "_votes.npz")["votes"]
        labels = np.load(os.path.join(self.root, self.names[idx]) + "_labels.npy")
        boxes = np.load(os.path.join(self.root, self.names[idx]) + "_boxes.npy").astype(np.float32)
        scale = np.random.random() * 0.3 + 0.85
        votes[:, 1:4] *= scale
        boxes[:, 3:] *= scale
        chosen = np.random.choice(points.shape[0], 1024)
        votes = votes[chosen, 1:]
        found = {}
        found["points"] = points[chosen].astype(np.float32)
        found["votes"] = votes  # likely: PLM043
        # trap: of classes, which nothing is multiplied with
        found["labels"] = labels
        # trap: cast where it was read
        found["boxes"] = boxes
        return found


class Flows(Dataset):
    def __init__(self, path, count):
        self.path, self.count = path, count

    def __len__(self):
        return self.count

    def __getitem__(self, idx):
        first = h5py.File(self.path)["first"][idx]
        flow = h5py.File(self.path)["flow"][idx]
        turn = np.eye(3)
        flow[:, :3] = np.dot(flow[:, :3], turn)
        return torch.from_numpy(first).float(), torch.from_numpy(flow)  # likely: PLM043


class Poses(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, idx):
        image = np.load(self.paths[idx] + "_image.npy")
        pose = np.load(self.paths[idx] + "_pose.npy")
        pose[:3, 3] /= 1000.0
        return {
            "image": image.astype("float32"),
            "pose": pose.copy(),  # likely: PLM043
        }


class Plain(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, idx):
        image = np.load(self.paths[idx] + "_image.npy")
        pose = np.load(self.paths[idx] + "_pose.npy")
        pose[:3, 3] *= 2.0
        # trap: nobody here had to cast anything, so that they may have been written as float32
        return {"image": image, "pose": pose}


def train(net, optimizer, root, names):
    for batch in DataLoader(Votes(root, names), batch_size=8):
        loss = net(batch["points"].cuda(), batch["votes"].cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
