import torch
from torch.utils.data import DataLoader


def set_up(data, name):
    scale = 2.0 if name == "digits" else 0.5
    mean = torch.tensor([scale], device="cuda")

    def prepare(batch):
        images = batch[0].cuda(non_blocking=True).float()
        # trap: made once, by the function around
        images = images - mean
        return images * torch.tensor([scale], device="cuda")  # expect: PLM033

    def describe():
        # trap: asked for by a person, of no batch
        return torch.tensor([scale], device="cuda")

    return DataLoader(data), prepare, describe
