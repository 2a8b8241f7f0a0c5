"""Questions as token sequences."""
import torch
from torch.utils.data import Dataset


def process(example):
    ids = example["input_ids"]
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}


class QuestionDataset(Dataset):
    def __init__(self, source):
        self.source = source
        self.examples = self.preprocess_dataset()  # everything into memory

    def preprocess_dataset(self):
        processed = []
        for example in self.source:
            processed.append(self._process_example(example))
        return processed

    def _process_example(self, example):
        return process(example)

    def __len__(self):
        return len(self.examples)

    def __getitem__(self, idx):
        return self.examples[idx]


class OnDemandDataset(Dataset):
    """Each example is processed when it is asked for."""

    def __init__(self, source):
        self.source = source

    def __len__(self):
        return len(self.source)

    def __getitem__(self, idx):
        return process(self.source[idx])
