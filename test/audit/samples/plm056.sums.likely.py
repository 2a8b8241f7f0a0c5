import torch
from torch.nn import functional as F


class Collator:
    def __init__(self, tokenizer, source_max_len, target_max_len):
        self.tokenizer = tokenizer
        self.source_max_len, self.target_max_len = source_max_len, target_max_len

    def __call__(self, rows):
        ids = [torch.tensor(row["ids"]) for row in rows]
        room = self.source_max_len + self.target_max_len
        return torch.stack([F.pad(one, (0, room - len(one)), value=self.tokenizer.pad_token_id) for one in ids])  # likely: PLM056


class ToLongest:
    def __call__(self, rows):
        ids = [torch.tensor(row["ids"]) for row in rows]
        # trap: one more than the longest of them
        room = max(len(one) for one in ids) + 1
        return torch.stack([F.pad(one, (0, room - len(one)), value=self.pad_token_id) for one in ids])


def loaders(rows, tokenizer):
    return torch.utils.data.DataLoader(rows, collate_fn=Collator(tokenizer, 1024, 256))
