"""Questions as token sequences."""
import torch
from torch.utils.data import Dataset


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
        ids = example["input_ids"]
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}

    def __len__(self):
        return len(self.examples)

    def __getitem__(self, idx):
        return self.examples[idx]
