import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader


def prepare(samples):
    images = np.stack([np.array(Image.open(path)) for path in samples["path"]])
    # trap: what collates them casts them before they are sent
    samples["pixels"] = torch.from_numpy(images / 255.0)
    return samples


def collate(samples):
    return {"pixels": torch.stack([sample["pixels"] for sample in samples]).float()}


def main(dataset, device):
    loader = DataLoader(dataset.with_transform(prepare), batch_size=8, collate_fn=collate)
    return [batch["pixels"].to(device) for batch in loader]


def shown(paths, device):
    return torch.from_numpy(np.array(Image.open(paths[0])) / 255.0).to(device)  # expect: PLM043
