"""What is kept in memory only for who asks, and the poses of a camera, which are no examples."""

import io

import torch


class Images(torch.utils.data.Dataset):
    def __init__(self, names, cache_images=False):
        self.names = names
        if cache_images:
            self.kept = []
            for name in names:
                with open(name, "rb") as file:
                    # trap: only where somebody asks for it
                    self.kept.append(io.BytesIO(decode_image(file.read())))

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        return torch.load(self.names[index])


class Poses:
    def __init__(self, names):
        self.names = names
        self.kept = []
        for name in names:
            self.kept.append(decode_image(name))  # likely: PLM040

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        return self.kept[index]


class Tracks:
    def __init__(self, files, poses_path):
        self.highest, self.poses = {}, []
        for name, paths in files.items():
            highest = 0
            for path in paths:
                highest = max(highest, torch.load(path).max())
            # trap: a number for each of a few
            self.highest[name] = highest + 1
        # trap: a few numbers each
        self.poses = [torch.load(path) for path in poses_path]
        self.names = [path for paths in files.values() for path in paths]

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        return torch.load(self.names[index])


class EvalCameraController:
    def __init__(self, heights):
        self.poses = []
        for height in heights:
            # trap: where a camera goes
            self.poses.append(torch.tensor([60.0, height, 0.0]))

    def __len__(self):
        return len(self.poses)

    def __getitem__(self, index):
        return self.poses[index]


def decode_image(data):
    return data


def train(net, names, optimizer):
    for data in (Images(names), Poses(names)):
        for x in torch.utils.data.DataLoader(data, num_workers=2):
            net(x).mean().backward()
            optimizer.step()
