import torch
from torch.utils.data import Dataset


class Texts(Dataset):
    def __init__(self, texts, tokenizer, cfg):
        self.texts = texts
        self.tokenizer = tokenizer
        self.cfg = cfg

    def __getitem__(self, index):
        # trap: who compiles wants one shape, and nothing here makes another
        return self.tokenizer(self.texts[index], max_length=self.cfg.longest, padding="max_length")


def collate(batch):
    return torch.tensor([one["input_ids"] for one in batch])


def build(model, cfg):
    if cfg.compile:
        model = torch.compile(model)
    return model
